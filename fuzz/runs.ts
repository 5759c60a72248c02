/**
 * Long runs of a short unit in every place that takes text: each member of a body, each parameter of a query, each
 * header. Reading them must take time linear in their length, because all callers wait for it.
 */
import type { Operation } from '../test/support/http/contract.ts';
import { bytesOf, type Draft } from './requests.ts';
import type { WireResponse } from './wire.ts';

export interface RunCase {
  readonly operation: Operation;
  /** Such as `body /items/0/name of " "`. */
  readonly name: string;
  /** The length of the shorter run, in characters; the longer one has four times as many. */
  readonly length: number;
  readonly request: (length: number) => Partial<Draft>;
}

const units = [
  ' ',
  '1',
  'a',
  ',',
  ';',
  '.',
  '/',
  '-',
  '"',
  '\\',
  '(',
  'a ',
  '1.',
  'a,',
  ';a=',
  '~1',
  '%',
  '\u0301',
  // Marks that Unicode normalization reorders; characters that it expands to several words or several letters.
  '\u0301\u0323',
  '\ufdfa',
  '\ufdfa ',
  '\u3300',
  'é ',
  // An element that hides everything after it, and never ends.
  '<script><',
];
/** Text before and after a run, so that a regular expression reaches the run and fails after it. */
const frames: readonly (readonly [string, string])[] = [
  ['', 'x'],
  ['a', '!'],
];
/** A quarter of the maximum length of the longest texts: longer ones are refused before they are processed. */
const inBody = 24_000;
/** A head may have at most 16 kB, and a run is percent-encoded in a URL. */
const inHeader = 3500;
const inQuery = 1000;

const headers = [
  'Accept',
  'Accept-Encoding',
  'Access-Control-Request-Headers',
  'Authorization',
  'Content-Type',
  'Content-Encoding',
  'Idempotency-Key',
  'If-Match',
  'If-Modified-Since',
  'If-None-Match',
  'If-Unmodified-Since',
  'Origin',
  'Prefer',
  'Range',
  'Stripe-Signature',
  'X-API-Key',
  'X-Forwarded-For',
  'X-Forwarded-Host',
  'X-Forwarded-Proto',
  'X-Request-ID',
];

/** @param exampleOf returns a body that the operation accepts; undefined for none */
export function runCases(
  operations: readonly Operation[],
  exampleOf: (operation: Operation) => unknown,
): RunCase[] {
  return operations.flatMap(operation => [
    ...placesOf(operation, exampleOf(operation)).flatMap(place =>
      units.flatMap(unit =>
        frames.map(([before, after]) => ({
          operation,
          name: `${place.name} of ${JSON.stringify(unit)}`,
          length: place.length,
          request: (length: number) =>
            place.request(`${before}${unit.repeat(Math.ceil(length / unit.length))}${after}`),
        })),
      ),
    ),
  ]);
}

/** The target of a search for what a request wrote; undefined if it wrote nothing, or nothing with a name or title. */
export function searchFor({ status, headers: own, text }: WireResponse): string | undefined {
  const isJson = own.get('content-type')?.includes('json') ?? false;
  if ((status !== 200 && status !== 201) || !isJson) return undefined;
  const written: unknown = JSON.parse(text);
  if (typeof written !== 'object' || written === null) return undefined;
  const { name, title }: { name?: unknown; title?: unknown } = written;
  const found = name ?? title;
  return typeof found === 'string' && found !== ''
    ? `/v1/search?q=${encodeURIComponent(found.slice(0, maxQueryLength).toWellFormed())}`
    : undefined;
}

const maxQueryLength = 100;

interface Place {
  readonly name: string;
  readonly length: number;
  readonly request: (text: string) => Partial<Draft>;
}

function placesOf(operation: Operation, example: unknown): Place[] {
  const contentType = 'application/json';
  const members = operation.body?.[contentType] === undefined ? [] : pathsIn(example);
  return [
    ...members.map(path => ({
      name: `body ${path.map(token => `/${token}`).join('')}`,
      length: inBody,
      request: (text: string) => ({
        contentType,
        body: bytesOf(JSON.stringify(replaced(example, path, text))),
      }),
    })),
    ...operation.parameters
      .filter(parameter => parameter.in === 'query')
      .map(({ name }) => ({
        name: `query ${name}`,
        length: inQuery,
        request: (text: string) => ({ query: `${name}=${encodeURIComponent(text)}` }),
      })),
    ...(operation.method === 'GET' || operation.method === 'POST' ? headers : []).map(name => ({
      name: `header ${name}`,
      length: inHeader,
      // Bytes that are not allowed in headers would be refused before they reach the service.
      request: (text: string) => ({ headers: [[name, text.replaceAll(/[^\0-\x7f]/g, '~')] as const] }),
    })),
  ];
}

type Path = readonly (string | number)[];

/** The paths of all values without members in a JSON document; of the document itself if it is such a value. */
function pathsIn(value: unknown): Path[] {
  if (typeof value !== 'object' || value === null) return [[]];
  const entries: [string | number, unknown][] = Array.isArray(value)
    ? value.slice(0, 1).map((item, index) => [index, item])
    : Object.entries(value);
  return entries.flatMap(([token, item]) => pathsIn(item).map(path => [token, ...path]));
}

function replaced(value: unknown, [token, ...rest]: Path, text: string): unknown {
  if (token === undefined) return text;
  if (Array.isArray(value)) {
    return value.map((item, index) => (index === token ? replaced(item, rest, text) : item));
  }
  return Object.fromEntries(
    Object.entries(value ?? {}).map(([name, item]) => [
      name,
      name === token ? replaced(item, rest, text) : item,
    ]),
  );
}
