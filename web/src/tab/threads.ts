// The script of the worker with a module that has threads, and of these threads, whose address ends with #thread.
import {serveThread} from "cameo-thread";
import {serve} from "./worker";

if (location.hash === "#thread") serveThread();
else serve();
