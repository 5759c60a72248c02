/** The frame of the service's own HTML pages: one style, light and dark, for any screen width. They load nothing. */

export interface Page {
  readonly text: string;
  /** Allows only the page's own style and script, by their hashes, and requests to this service. */
  readonly contentSecurityPolicy: string;
}

const style = `
:root {
  color-scheme: light dark;
  --ground: #fff; --panel: #f5f7f9; --text: #1a2027; --quiet: #56616d; --line: #d5dbe1; --field: #76818d;
  --accent: #0a5a9c; --accent-text: #fff;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #14181c; --panel: #1d2329; --text: #e7ebef; --quiet: #a6b0ba; --line: #37414b; --field: #7d8893;
    --accent: #82bdf5; --accent-text: #0c1a28;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); font: 1rem/1.6 system-ui, sans-serif; }
main { max-width: 48rem; margin: 0 auto; padding: clamp(1.5rem, 6vw, 4rem) 1rem; }
h1 { margin: 0 0 .5rem; text-wrap: balance; font-size: clamp(1.75rem, 5vw, 2.5rem); line-height: 1.2; letter-spacing: -.02em; }
h2 { margin: 2.5rem 0 .5rem; font-size: 1.25rem; }
a { color: var(--accent); text-underline-offset: .2em; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.quiet { color: var(--quiet); }
.lead { font-size: 1.125rem; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(14rem, 1fr)); gap: .75rem; margin: 1.5rem 0 0; padding: 0; list-style: none; }
.cards a { display: block; height: 100%; padding: .875rem 1rem; border: 1px solid var(--line); border-radius: .5rem; background: var(--panel); color: var(--quiet); text-decoration: none; }
.cards a:hover { border-color: var(--accent); }
.cards b { display: block; color: var(--accent); }
pre { overflow-x: auto; margin: 1rem 0; padding: 1rem; border: 1px solid var(--line); border-radius: .5rem; background: var(--panel); font-size: .875rem; }
code { font-family: ui-monospace, monospace; overflow-wrap: anywhere; }
pre code { overflow-wrap: normal; }
em { color: var(--accent); }
.narrow main { max-width: 28rem; }
.narrow article { margin-top: 1rem; padding: clamp(1rem, 5vw, 2rem); border: 1px solid var(--line); border-radius: .75rem; background: var(--panel); }
.narrow h1 { font-size: 1.5rem; }
label { display: block; margin-top: 1rem; }
input, button { display: block; width: 100%; margin-top: .5rem; padding: .625rem .75rem; border: 1px solid var(--field); border-radius: .375rem; background: var(--ground); color: var(--text); font: inherit; }
button { margin-top: 1rem; border-color: var(--accent); background: var(--accent); color: var(--accent-text); font-weight: 600; cursor: pointer; }
button:disabled { opacity: .6; cursor: default; }
output:not(:empty) { display: block; margin-top: 1rem; }
#next { margin: 1rem 0 0; }
[hidden] { display: none; }
`;

export interface PageContent {
  readonly title: string;
  /** HTML; text from outside must have gone through `Bun.escapeHTML`. */
  readonly body: string;
  /** JavaScript, run at the end of the page. */
  readonly script?: string;
  /** For a page that consists of one form. */
  readonly narrow?: true;
}

/** Builds a page, and the policy that it is served with. */
export function buildHtmlPage({ title, body, script, narrow }: PageContent): Page {
  const scriptSource = script === undefined ? '' : `script-src ${hashScript(script)}; connect-src 'self'; `;
  return {
    text: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${style}</style>
</head>
<body${narrow === true ? ' class="narrow"' : ''}>
<main>
${narrow === true ? `<a href="./">Catalog</a>\n<article>\n<h1>${title}</h1>\n${body}\n</article>` : `<h1>${title}</h1>\n${body}`}
</main>${script === undefined ? '' : `\n<script>${script}</script>`}
</body>
</html>
`,
    contentSecurityPolicy: `default-src 'none'; ${scriptSource}style-src ${hashScript(style)}; form-action 'none'; frame-ancestors 'none'; base-uri 'none'`,
  };
}

const hashScript = (text: string) =>
  `'sha256-${new Bun.CryptoHasher('sha256').update(text).digest('base64')}'`;
