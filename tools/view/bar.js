// The bar over the page: on a connection of its own, so that neither its words nor the stop wait for the 3-D picture.
(() => {
  const SILENT_MS = 3000, AGAIN_MS = 500;
  const GONE = {
    kind: "gone", colour: "#8a4b00", head: "silent", who: "", text: "The program behind this page does not answer; this is the past.",
    hint: "start flexor view again", more: [], stop: false,
  };
  const element = (tag, name, ...parts) => {
    const made = document.createElement(tag);
    if (name) made.className = name;
    made.append(...parts);
    return made;
  };
  const head = element("b"), hand = element("span"), who = element("span", "fx-who");
  const say = element("span", "fx-say"), hint = element("span", "fx-hint"), more = element("div");
  const stop = element("button", "", "STOP", element("small", "", "Esc"));
  const bar = element("div", "", element("div", "fx-head", head, hand, who),
    element("div", "fx-text", element("div", "", say, " ", hint), more), stop);
  bar.id = "fx-banner";
  stop.id = "fx-stop";
  stop.title = "Escape";

  const show = (told) => {
    bar.dataset.kind = told.kind;
    bar.style.background = told.colour;
    head.textContent = told.head;
    if ("hand" in told) hand.textContent = told.hand;
    who.textContent = told.who;
    say.textContent = told.text;
    hint.textContent = told.hint && `Next: ${told.hint}.`;
    more.replaceChildren(...told.more.map((line) => element("div", "fx-more", line)));
    stop.hidden = !told.stop;
  };

  let socket = null, heard = performance.now(), newest = GONE;
  const connect = () => {
    socket = new WebSocket(location.origin.replace(/^http/, "ws") + "/flexor");
    socket.onmessage = (event) => {
      const late = bar.dataset.kind === GONE.kind;
      heard = performance.now();
      if (event.data) newest = JSON.parse(event.data);
      if (event.data || late) show(newest);
    };
    socket.onclose = () => setTimeout(connect, AGAIN_MS);
  };
  setInterval(() => {
    if (performance.now() - heard > SILENT_MS) show({...GONE, stop: newest.stop});
  }, AGAIN_MS);

  // by the library's hot key where the bar has no connection: it knows keys outside of fields alone
  const key = {key: "Escape", code: "Escape", bubbles: true};
  const ask = () => {
    if (socket.readyState === WebSocket.OPEN) socket.send("stop");
    else document.documentElement.dispatchEvent(new KeyboardEvent("keydown", key));
  };
  stop.addEventListener("click", ask);
  window.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || stop.hidden || !event.isTrusted) return;
    event.stopImmediatePropagation();
    ask();
  }, true);

  show({...GONE, kind: "waiting", colour: "#3d5a78", head: "flexor", text: "The page is loading.", hint: ""});
  document.addEventListener("DOMContentLoaded", () => document.body.append(bar));
  connect();
})();
