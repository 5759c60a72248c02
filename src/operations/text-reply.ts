/** Responses that are plain text or HTML pages. */
import { noStore, type Reply } from '../http/response/reply.ts';
import type { Page } from './pages/page.ts';

export const html = 'text/html; charset=utf-8';

export function replyText(body: string, mediaType: string): Reply {
  return { status: 200, body, mediaType, cacheControl: noStore, tagged: false };
}

/** An HTML page. Its address may hold a token, which no other site may learn: hence `no-referrer`. */
export function replyHtml({ text: body, contentSecurityPolicy }: Page): Reply {
  const headers = { 'Content-Security-Policy': contentSecurityPolicy, 'Referrer-Policy': 'no-referrer' };
  return { ...replyText(body, html), headers };
}
