"use strict";
// Shows the official trials that the page carries as JSON, a page at a time. Text is only ever set as text.
(() => {
  const PAGE = 20;
  const data = JSON.parse(document.getElementById("trials-data").textContent);
  const form = document.getElementById("trials-form");
  const list = document.getElementById("trials-list");
  const status = document.getElementById("trials-status");
  const previous = document.getElementById("trials-previous");
  const next = document.getElementById("trials-next");
  let first = 0;

  const element = (name, text, className) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
  };

  const answer = (one) => {
    const box = element("div");
    const read = one.extracted === null ? "no answer read" : `read: ${one.extracted}`;
    box.append(element("p", `${one.who}: ${one.outcome.replaceAll("_", " ")}, ${read}${one.reason ? ` (${one.reason})` : ""}`, "who"));
    box.append(element("pre", one.output || "(empty)"));
    return box;
  };

  const entry = (trial) => {
    const details = element("details");
    const wording = trial.unseen ? "unseen template" : "seen template";
    details.append(element("summary", `${trial.kind} · ${trial.family} · ${trial.item} · ${wording}`));
    details.addEventListener("toggle", () => {
      if (details.childElementCount > 1) return;
      const answers = element("div", undefined, "answers");
      answers.append(...trial.answers.map(answer));
      details.append(element("p", `prompt (template ${trial.template})`, "who"), element("pre", trial.prompt), answers);
    });
    return details;
  };

  const wanted = () => {
    const [kind, family, wording] = ["kind", "family", "wording"].map((name) => form.elements[name].value);
    const text = form.elements.text.value.toLowerCase();
    return data.trials.filter((trial) =>
      (!kind || trial.kind === kind) &&
      (!family || trial.family === family) &&
      (!wording || (wording === "unseen") === trial.unseen) &&
      (!text || [trial.item, trial.prompt, ...trial.answers.map((one) => one.output)]
        .some((part) => part.toLowerCase().includes(text))));
  };

  const show = () => {
    const found = wanted();
    first = Math.max(0, Math.min(first, found.length - 1));
    first -= first % PAGE;
    list.replaceChildren(...found.slice(first, first + PAGE).map(entry));
    status.textContent = found.length
      ? `${first + 1} to ${Math.min(first + PAGE, found.length)} of ${found.length}`
      : "no trial fits";
    previous.disabled = first === 0;
    next.disabled = first + PAGE >= found.length;
  };

  const fill = (name, values) => values.forEach((value) => {
    const option = element("option", value);
    option.value = value;
    form.elements[name].append(option);
  });

  fill("kind", data.kinds);
  fill("family", data.families);
  form.addEventListener("input", () => { first = 0; show(); });
  form.addEventListener("submit", (event) => event.preventDefault());
  previous.addEventListener("click", () => { first -= PAGE; show(); });
  next.addEventListener("click", () => { first += PAGE; show(); });
  form.hidden = false;
  show();
})();
