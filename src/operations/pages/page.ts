/** The frame of the service's own HTML pages: one style, light and dark, for screens of any width. They load nothing. */

export interface Page {
  readonly text: string;
  /** Allows the page's own style and script, by their hashes, and requests to this service; nothing else. */
  readonly contentSecurityPolicy: string;
}

const style = `
:root { color-scheme: light dark; }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 40rem; margin: 3rem auto; padding: 0 1rem; }
body.narrow { max-width: 26rem; }
h1 { line-height: 1.2; }
a { display: inline-block; padding: .25rem 0; }
input, button { font: inherit; display: block; width: 100%; box-sizing: border-box; margin: .5rem 0; padding: .5rem; }
pre { overflow-x: auto; padding: .75rem; border: 1px solid GrayText; border-radius: .25rem; font-size: .875rem; }
code { overflow-wrap: anywhere; }
pre code { overflow-wrap: normal; }
`;

export interface PageContent {
  readonly title: string;
  /** HTML; whatever comes from outside must have gone through `escapeHtml`. */
  readonly body: string;
  /** JavaScript, run at the end of the page. */
  readonly script?: string;
  /** For a page that is one form. */
  readonly narrow?: true;
}

/** Makes a page, and the policy that it is served with. */
export function htmlPage({ title, body, script, narrow }: PageContent): Page {
  const scriptSource = script === undefined ? '' : `script-src ${hashOf(script)}; connect-src 'self'; `;
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
<h1>${title}</h1>
${body}
</main>${script === undefined ? '' : `\n<script>${script}</script>`}
</body>
</html>
`,
    contentSecurityPolicy: `default-src 'none'; ${scriptSource}style-src ${hashOf(style)}; form-action 'none'; frame-ancestors 'none'; base-uri 'none'`,
  };
}

const hashOf = (text: string) => `'sha256-${new Bun.CryptoHasher('sha256').update(text).digest('base64')}'`;

/** Text as it may stand between tags and in attributes. */
export const escapeHtml = (text: string): string => Bun.escapeHTML(text);
