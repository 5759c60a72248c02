/** A mail of a few paragraphs, as text and as HTML. Names are untrusted text and are escaped in HTML. */

export interface MailText {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export type Paragraph = string | { readonly link: string };

/** @param name whom to greet; undefined for an unconfirmed address, which must get no text written by strangers */
export function composeMail(
  subject: string,
  name: string | undefined,
  paragraphs: readonly Paragraph[],
): MailText {
  const greeting = name === undefined ? 'Hello,' : `Hello ${name.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim()},`;
  const parts = [greeting, ...paragraphs];
  const html = parts.map(part => {
    if (typeof part === 'string') return `<p>${Bun.escapeHTML(part)}</p>`;
    const link = Bun.escapeHTML(part.link);
    return `<p><a href="${link}">${link}</a></p>`;
  });
  return {
    subject,
    text: `${parts.map(part => (typeof part === 'string' ? part : part.link)).join('\n\n')}\n`,
    html: `<!doctype html>\n<html lang="en">\n<body>\n${html.join('\n')}\n</body>\n</html>\n`,
  };
}
