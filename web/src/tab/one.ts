// The script of the worker with a module of one thread.
import {serve} from "./worker";

serve();
