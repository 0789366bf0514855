// Opens the folded part of a page that contains the target of a link.
const reveal = () => {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  for (let part = target.closest("details"); part; part = part.parentElement.closest("details")) part.open = true;
  target.scrollIntoView();
};
addEventListener("DOMContentLoaded", reveal);
addEventListener("hashchange", reveal);
