// The table of all claims: searched by words, filtered by verdict, paper and origin, and sorted by a click on a heading.
// Parts of claims (C5.f2 of C5) are shown if "show parts" is checked, or if a search finds them.
document.addEventListener("DOMContentLoaded", () => {
  const table = document.querySelector("table.filtered");
  if (!table) return;
  const heads = [...table.tHead.rows[0].cells], rows = [...table.tBodies[0].rows];
  const text = (row, i) => row.cells[i].textContent.trim();
  const menu = (name) => {
    const i = heads.findIndex((head) => head.textContent.trim() === name);
    const label = document.createElement("label"), select = document.createElement("select");
    select.dataset.column = i;
    select.name = name;
    for (const value of ["", ...new Set(rows.map((row) => text(row, i)))].sort()) select.add(new Option(value || "all", value));
    label.append(name, select);
    return label;
  };
  const form = document.createElement("form"), search = document.createElement("input"), label = document.createElement("label");
  const count = document.createElement("output");
  form.className = "filter";
  form.role = "search";
  Object.assign(search, { type: "search", name: "words" });
  count.ariaLive = "polite";
  label.append("search", search);
  const parts = document.createElement("input"), beside = document.createElement("label");
  Object.assign(parts, { type: "checkbox", name: "parts", value: "shown" });
  beside.append("show parts", parts);
  form.append(label, menu("verdict"), menu("paper"), menu("origin"), beside, count);
  const column = (name) => heads.findIndex((head) => head.textContent.trim() === name);
  const name = (row, id) => `${text(row, column("paper"))} ${id}`;
  const whole = new Set(rows.map((row) => name(row, text(row, column("id")))));
  const part = new Map(rows.map((row) => {
    const steps = text(row, column("id")).split(".");
    return [row, steps.some((_, i) => i && whole.has(name(row, steps.slice(0, i).join("."))))];
  }));
  const menus = [...form.querySelectorAll("select")];
  const show = () => {
    const words = search.value.toLowerCase().split(/\s+/);
    let n = 0;
    for (const row of rows) {
      const all = row.textContent.toLowerCase();
      const folded = part.get(row) && !parts.checked && !search.value;
      row.hidden = folded || !words.every((word) => all.includes(word)) || menus.some((m) => m.value && text(row, m.dataset.column) !== m.value);
      n += !row.hidden;
    }
    count.textContent = `${n} of ${rows.length} claims`;
    const asked = [...form.querySelectorAll("[name]")].filter((field) => (field === parts ? parts.checked : field.value)).map((field) => [field.name, field.value]);
    history.replaceState(null, "", `${location.pathname}${asked.length ? "?" : ""}${new URLSearchParams(asked)}${location.hash}`);
  };
  form.addEventListener("input", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  for (const [name, value] of new URLSearchParams(location.search)) {
    const field = form.querySelector(`[name="${CSS.escape(name)}"]`);
    if (field === parts) parts.checked = true;
    else if (field) field.value = value;
  }
  heads.forEach((head, i) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const up = head.ariaSort !== "ascending";
      heads.forEach((other) => (other.ariaSort = null));
      head.ariaSort = up ? "ascending" : "descending";
      const order = (a, b) => {  // numbers by size, p-values among them, apart from words
        const [x, y] = [a, b].map((cell) => parseFloat(cell.replace(/^p /, "")));
        return isNaN(x) - isNaN(y) || (isNaN(x) ? 0 : x - y) || a.localeCompare(b, "en", { numeric: true });
      };
      rows.sort((a, b) => (up ? 1 : -1) * order(text(a, i), text(b, i)));
      table.tBodies[0].append(...rows);
    });
  });
  table.before(form);
  show();
});
