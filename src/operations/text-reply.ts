/** Responses that are text, and pages. */
import { noStore, type Reply } from '../http/response/reply.ts';
import type { Page } from './pages/page.ts';

export const html = 'text/html; charset=utf-8';

export function replyText(body: string, mediaType: string): Reply {
  return { status: 200, body, mediaType, cacheControl: noStore, tagged: false };
}

export function replyHtml({ text: body, contentSecurityPolicy }: Page): Reply {
  const headers = { 'Content-Security-Policy': contentSecurityPolicy, 'Referrer-Policy': 'no-referrer' };
  return { ...replyText(body, html), headers };
}
