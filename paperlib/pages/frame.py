"""The frame of the pages that the project writes: one style sheet beside them, no script, nothing loaded from elsewhere."""

from html import escape

SHEET = "style.css"  # of all pages, in the folder of figures
CSS = """
:root { --paper: #fdfdfb; --ink: #1d2126; --soft: #59616b; --line: #dfe0db; --link: #1a4f8b; --code: #f4f4f0;
  --holds: #0f6b45; --fails: #a3261b; --inconclusive: #7a5200; --reported: #34548a; --not-run: #59616b; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #15181c; --ink: #e4e5e2; --soft: #a2a9b1; --line: #343a41; --link: #8fbcf0; --code: #1e2227;
    --holds: #6fd0a3; --fails: #ff9d90; --inconclusive: #e9bd6a; --reported: #a5c0ee; --not-run: #a2a9b1; } }
* { box-sizing: border-box; }
html { color-scheme: light dark; scroll-behavior: smooth; -webkit-text-size-adjust: 100%; }
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1.0625rem/1.55 Charter, "Iowan Old Style", "Palatino Linotype", Palatino, Georgia, "DejaVu Serif", serif; }
.wide { max-width: 75rem; margin: 0 auto; padding: 0 clamp(1rem, 4vw, 2.5rem); }
a { color: var(--link); text-underline-offset: .18em; text-decoration-thickness: .06em; }
a:focus-visible, summary:focus-visible, [tabindex]:focus-visible { outline: 3px solid var(--link); outline-offset: 3px; border-radius: 3px; }
.skip { position: absolute; left: -99rem; } .skip:focus { left: 1rem; top: 1rem; background: var(--paper); padding: .5rem 1rem; z-index: 1; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
h1, h2, h3 { line-height: 1.22; text-wrap: balance; font-weight: 600; }
h1 { font-size: clamp(1.9rem, 5vw, 2.7rem); margin: 0 0 .4rem; letter-spacing: -.01em; }
h2 { font-size: clamp(1.5rem, 3.6vw, 1.95rem); margin: 0 0 .35rem; } h3 { font-size: 1.25rem; margin: 0; }
header.wide { padding-top: clamp(2rem, 6vw, 4.5rem); padding-bottom: 1.5rem; } .lead { max-width: 44rem; margin: 0; } .soft { color: var(--soft); }
nav ul, .chips, .claims, .claims ul { list-style: none; margin: 0; padding: 0; }
nav ul { display: flex; flex-wrap: wrap; gap: .3rem 1.5rem; margin-top: 1.2rem; }
.paper { border-top: 2px solid var(--ink); padding: 1.6rem 0 3rem; margin-top: 1rem; }
.source { max-width: 50rem; margin: 0 0 1rem; color: var(--soft); }
.group { border-top: 1px solid var(--line); margin-top: 2.2rem; padding-top: 1.3rem; } .group > p { margin: .3rem 0 0; }
small, .links, .count, .chip, summary, footer, .label, nav { font-family: system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
.links, .count, footer, .label { font-size: .875rem; } nav { font-size: .95rem; }
figure { margin: 1.6rem 0 0; display: grid; gap: .8rem 2rem; }
@media (min-width: 62rem) { figure { grid-template-columns: minmax(0, 2.35fr) minmax(0, 1fr); align-items: start; } }
.sheet { display: block; background: #fff; border: 1px solid var(--line); border-radius: 6px; padding: clamp(.4rem, 1.2vw, .9rem); }
@media (max-width: 40rem) { .sheet { margin: 0 calc(-1 * clamp(1rem, 4vw, 2.5rem)); padding: .4rem 0; border-width: 1px 0; border-radius: 0; } }
.sheet img { display: block; width: 100%; height: auto; margin: 0 auto; }
figcaption p { margin: 0 0 .7rem; font-size: .95rem; line-height: 1.5; } .label { font-weight: 650; }
.chips { display: flex; flex-wrap: wrap; align-items: center; gap: .35rem; margin: 0 0 .7rem; }
.chip { display: inline-block; font-size: .8rem; line-height: 1.2; padding: .28rem .5rem; border: 1px solid currentColor; border-radius: 1rem; text-decoration: none; }
a.chip:hover { text-decoration: underline; }
.holds { color: var(--holds); } .fails { color: var(--fails); } .inconclusive { color: var(--inconclusive); } .reported, .vacuous-here { color: var(--reported); } .not-run { color: var(--not-run); }
details { border-top: 1px solid var(--line); margin-top: 2.2rem; padding-top: 1rem; } summary { cursor: pointer; font-weight: 600; padding: .3rem 0; }
.claims li { padding: .65rem .5rem; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; } .claims li li:last-child { border-bottom: 0; }
.claims ul { margin: .4rem 0 0 clamp(.6rem, 3vw, 2rem); border-left: 2px solid var(--line); padding-left: .4rem; }
.claims p { margin: .15rem 0 0; } .claims small { color: var(--soft); font-size: .84rem; } .claims :target { background: color-mix(in srgb, var(--link) 12%, transparent); }
footer.wide { padding-top: 1.4rem; padding-bottom: 3rem; color: var(--soft); }
"""


def document(title: str, body: str, *, up: str = "", description: str = "") -> str:
    """A whole page around ``body``, which is HTML; ``title`` and ``description`` are text, ``up`` leads to the folder of figures."""
    about = f'<meta name="description" content="{escape(description)}">\n' if description else ""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta name="color-scheme" content="light dark">\n{about}<title>{escape(title)}</title>\n'
        f'<link rel="icon" href="data:,">\n<link rel="stylesheet" href="{up}{SHEET}">\n</head>\n<body>\n{body}\n</body>\n</html>\n'
    )
