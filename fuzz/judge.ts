/** What no response may contain or do, whatever the request. */
import type { Contract } from '../test/support/http/contract.ts';
import { curlOf, isHttp, type WireRequest, type WireResponse } from './wire.ts';

/** Errors of 500 and above that are legitimate here, because a fuzzed service cannot reach the outside. */
const outside = ['WEATHER_UNAVAILABLE'];

/** Signs of leaked internals: stacks, statements, files, machines. */
const internals =
  /\bat \S+ \(|\bat \S+:\d+:\d+|node_modules|\/src\/|\.ts\b|\/tmp\/|\/root\/|\/home\/|\bSQLITE_|\bsqlite|postgres|\bselect\b.+\bfrom\b|\binsert into\b|\bupdate\b.+\bset\b|syntax error at|relation "|UNIQUE constraint|\[object |\bundefined\b|ZodError|TypeError|ECONN/i;

/** @returns what is wrong with the response; undefined when nothing is */
export function judge(
  contract: Contract,
  request: WireRequest,
  response: WireResponse | undefined,
): string | undefined {
  if (response === undefined) return 'no response within 10 seconds';
  const { status, headers, text } = response;
  if (!isHttp(request))
    return status === 0 || (status >= 200 && status < 500) ? undefined : `status ${status}`;
  if (status === 0) return 'the connection was closed without a response';
  const sentId = request.headers.find(([name]) => name === 'X-Request-ID')?.[1];
  const echoed = sentId !== undefined && /^[\x20-\x7e]{1,255}$/.test(sentId) ? sentId : null;
  if (status >= 500 && !outside.some(code => text.includes(`"${code}"`))) return `status ${status}: ${text}`;
  try {
    const path = request.target;
    contract.check({ method: request.method, path, requestId: echoed, status, headers, text });
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  if (status < 400) return undefined;
  const shown = internals.exec(text)?.[0];
  // The response may repeat what the client itself sent.
  const own = `${decodedTarget(request.target)} ${JSON.stringify(request.headers)}`.toLowerCase();
  return shown === undefined || own.includes(shown.toLowerCase())
    ? undefined
    : `the error tells of ${shown}: ${text}`;
}

function decodedTarget(target: string): string {
  try {
    return decodeURIComponent(target);
  } catch {
    return target;
  }
}

/** A failure in readable form. */
export function described(
  url: string,
  operation: string,
  problem: string,
  request: WireRequest,
  response: WireResponse | undefined,
): string {
  const lines = [`FAILED ${operation}: ${cut(problem, 2000)}`, `  ${cut(curlOf(url, request), 4000)}`];
  if (response !== undefined) {
    const shown = [...response.headers].map(([name, value]) => `${name}: ${value}`).join('; ');
    lines.push(`  → ${response.status} ${cut(response.text, 1000)}`, `    ${cut(shown, 1500)}`);
  }
  return lines.join('\n');
}

const cut = (text: string, length: number) =>
  text.length <= length ? text : `${text.slice(0, length)}… (${text.length} characters)`;
