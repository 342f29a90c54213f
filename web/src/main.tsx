import {render} from "preact";
import {App} from "./app";
import {pickEngine} from "./pick";
import {Store} from "./store";

const engine = pickEngine();
const store = new Store(engine);
const target = document.getElementById("app");
if (target) render(<App store={store} />, target);
void store.start();

// The server ends when no page is open any more.
if (engine.kind === "server") {
  const stay = async () => {
    for (;;) {
      try {
        const answer = await fetch("alive");
        await answer.text();
      } catch {
        await new Promise((done) => setTimeout(done, 2000));
      }
    }
  };
  void stay();
}

// For tests and curious people.
Object.assign(window, {cameo: store});
