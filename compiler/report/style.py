"""The looks of a report: colours for light and dark, and little else."""

from __future__ import annotations

STYLE = """
:root { --ink: #1f2933; --soft: #5f6b76; --grid: #e3e8ec; --paper: #fbfcfd; --card: #ffffff; --bad: #c0392b;
  --c0: #2563a8; --c1: #d9822b; --c2: #2e7d4f; --c3: #7a4fa3; --c4: #1b8a8f; --c5: #8a6d1b; --c6: #b0488a;
  --c7: #5f6b76; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e9ee; --soft: #9aa7b4; --grid: #2c353e; --paper: #14191e; --card: #1c2329; --bad: #f0776a;
    --c0: #6aa8ec; --c1: #f0a860; --c2: #6cc495; --c3: #b795e0; --c4: #5cc4c9; --c5: #cdb25c; --c6: #e58cc0;
    --c7: #9aa7b4; }
}
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.5 Helvetica, Arial, 'Liberation Sans', sans-serif; }
main { max-width: 1040px; margin: 0 auto; padding: 24px; }
h1 { font-size: 22px; } h2 { font-size: 17px; margin-top: 32px; }
figure { margin: 20px 0; } figure svg { width: 100%; height: auto; }
dl { display: flex; flex-wrap: wrap; gap: 10px; margin: 16px 0; }
dl div { background: var(--card); border: 1px solid var(--grid); border-radius: 8px; padding: 8px 14px; }
dt { color: var(--soft); font-size: 12px; } dd { margin: 0; font-size: 18px; font-weight: bold; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 13px; }
th, td { text-align: left; padding: 5px 12px 5px 0; border-bottom: 1px solid var(--grid); vertical-align: top; }
th { color: var(--soft); font-weight: normal; } .n { text-align: right; white-space: nowrap; }
.soft { color: var(--soft); } summary { cursor: pointer; margin: 12px 0; }
pre { font-size: 12px; overflow-x: auto; background: var(--card); border: 1px solid var(--grid); padding: 12px; }
"""
