/** The served OpenAPI document: its operations, and a check of responses against it. */

import Ajv, { type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Role } from '../../../src/http/access.ts';
import { emailOf } from '../service/service.ts';

type Json = { readonly [member: string]: unknown };

interface Content {
  readonly [mediaType: string]: {
    readonly schema?: Json;
    readonly example?: unknown;
    readonly examples?: Json;
  };
}

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly example?: unknown;
  readonly schema?: Json;
}

export interface Operation {
  readonly method: string;
  /** As in the document: `/v1/products/{id}`. */
  readonly path: string;
  readonly operationId: string;
  readonly parameters: readonly Parameter[];
  readonly body: Content | undefined;
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
  readonly isPublic: boolean;
  /** Whether its 400 and 404 have the body `{error}` and nothing else. */
  readonly plainErrors: boolean;
  /** Roles whose tokens are admitted. */
  readonly roles: readonly Role[];
  /** The codes of its errors. */
  readonly errors: readonly string[];
  /** The scope that admits an API key. */
  readonly scope: string | undefined;
}

/** What a check needs to know of a request and its response. */
interface Observed {
  readonly method: string;
  readonly path: string;
  readonly requestId: string | null;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export interface Contract {
  readonly operations: readonly Operation[];
  /** @throws Error that says how the response breaks the contract */
  check(observed: Observed): void;
}

export const methodsOfHttp = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** Bodies with credentials of real accounts, by operation: the document's examples belong to no account. */
export const realBodies: Readonly<
  Record<string, (refreshToken: string, password: string, mailed: MailedTokens) => unknown>
> = {
  login: (_, password) => ({ email: emailOf('user'), password }),
  refresh: refreshToken => ({ refreshToken }),
  logout: refreshToken => ({ refreshToken }),
  changePassword: (_, password) => ({ currentPassword: password, newPassword: password }),
  deleteMe: (_, password) => ({ currentPassword: password }),
  resetPassword: (_, password, mailed) => ({ token: mailed.password, password }),
  verifyAddress: (_, _password, mailed) => ({ token: mailed.verification }),
  restoreAddress: (_, password, mailed) => ({ token: mailed.restoration, password }),
};

/** Tokens of mails that the service has sent to users created for this. */
export interface MailedTokens {
  readonly password: string;
  readonly verification: string;
  /** The token in the mail to a former address. */
  readonly restoration: string;
}

let loaded: Promise<Contract> | undefined;

/** The contract of the service at `url`; every service of a run serves the same document. */
export function contractAt(url: string): Promise<Contract> {
  loaded ??= fetch(`${url}/openapi.json`).then(async response => contractOf((await response.json()) as Json));
  return loaded;
}

export function contractOf(document: Json): Contract {
  const at = (pointer: string): unknown =>
    pointer
      .replace(/^#\//, '')
      .split('/')
      .map(token => decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~'))
      .reduce<unknown>((value, token) => (value as Json | undefined)?.[token], document);
  /** Follows one reference; schemas are left to the validator. */
  const resolved = <T>(value: unknown): T => {
    const reference = (value as { $ref?: string } | undefined)?.$ref;
    return (reference === undefined ? value : at(reference)) as T;
  };
  const operations = operationsOf(document, resolved);
  const validate = validatorOf(document);
  // For requests that match no operation: unknown addresses and methods.
  const errorContent: Content = {
    'application/json': { schema: { $ref: '#/components/schemas/Error' } },
    'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
  };
  const byPath = Map.groupBy(operations, operation => operation.path);
  const patterns = [...byPath.keys()]
    // Paths without parameters come first: `/v1/orders/latest` before `/v1/orders/{id}`.
    .sort((a, b) => Number(a.includes('{')) - Number(b.includes('{')))
    .map(path => ({ path, pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`) }));

  function checkBody(observed: Observed, content: Content | undefined, what: string): void {
    const { headers, text } = observed;
    const type = (headers.get('content-type') ?? '').split(';')[0]?.trim() ?? '';
    if (content === undefined) {
      if (text !== '' || type !== '') throw new Error(`${what} has a body (${type}) that is not declared`);
      return;
    }
    const declared = content[type] ?? content[type.replace(/\/.*/, '/*')];
    if (declared === undefined) {
      throw new Error(`${what} is ${type}; declared are ${Object.keys(content).join(', ')}`);
    }
    if (declared.schema === undefined || observed.method === 'HEAD' || !type.endsWith('json')) return;
    const problem = validate(declared.schema, JSON.parse(text));
    if (problem !== undefined) throw new Error(`${what} breaks its schema: ${problem}\n${text}`);
  }

  return {
    operations,
    check(observed) {
      const { method, status, text } = observed;
      const pathname = observed.path.split('?')[0] ?? '';
      const what = `${method} ${pathname} → ${status}`;
      checkHeaders(observed, what);
      if (status === 204 || status === 304 || method === 'HEAD') {
        if (text !== '') throw new Error(`${what} has a body`);
        if (status !== 304 && method === 'OPTIONS') return;
      }
      const path = patterns.find(({ pattern }) => pattern.test(pathname))?.path ?? '';
      const wanted = method === 'HEAD' ? 'GET' : method;
      const operation = byPath.get(path)?.find(({ method: declared }) => declared === wanted);
      const plain = operation?.plainErrors === true && (status === 400 || status === 404);
      if (status >= 400 && method !== 'HEAD' && !plain) checkError(observed, what);
      if (operation === undefined) {
        const expected = path === '' ? 404 : 405;
        // Errors that are detected before the address is looked up.
        const isEarly = status === 429 || (status === 400 && text.includes('"INVALID_HOST"'));
        if (status !== expected && !isEarly)
          throw new Error(`${what}: no such operation is declared; expected ${expected}`);
        if (method !== 'HEAD') checkBody(observed, errorContent, what);
        return;
      }
      const code = status >= 400 && text !== '' ? (JSON.parse(text) as { error: string }).error : undefined;
      if (code !== undefined && !plain && !operation.errors.includes(code))
        throw new Error(`${what}: ${code} is not declared; x-errors are ${operation.errors.join(', ')}`);
      const response = operation.responses[String(status)];
      if (response === undefined) {
        throw new Error(
          `${what} is not declared; ${Object.keys(operation.responses).join(', ')} are: ${text}`,
        );
      }
      checkBody(observed, status === 304 ? undefined : response.content, what);
    },
  };
}

function operationsOf(document: Json, resolved: <T>(value: unknown) => T): Operation[] {
  const everyPath = resolved<Json>({ $ref: '#/components/pathItems/EveryPath' });
  const common = everyPath['x-errors'] as string[];
  return Object.entries((document.paths ?? {}) as Record<string, Record<string, unknown>>).flatMap(
    ([path, item]) =>
      methodsOfHttp.flatMap(method => {
        const declared = item[method.toLowerCase()] as Json | undefined;
        if (declared === undefined) return [];
        const parameters = [...((item.parameters ?? []) as []), ...((declared.parameters ?? []) as [])];
        const responses = Object.entries(declared.responses as Json).map(
          ([status, response]) => [status, withAlternatives(resolved(response))] as const,
        );
        return {
          method,
          path,
          operationId: String(declared.operationId),
          parameters: parameters.map(parameter => resolved<Parameter>(parameter)),
          body: resolved<{ content: Content } | undefined>(declared.requestBody)?.content,
          responses: Object.fromEntries(responses),
          plainErrors: JSON.stringify(declared.responses).includes('/responses/Plain'),
          isPublic: Array.isArray(declared.security) && declared.security.length === 0,
          roles: (declared['x-roles'] ?? []) as Role[],
          errors: [...common, ...((declared['x-errors'] ?? []) as string[])],
          scope: declared['x-scope'] as string | undefined,
        };
      }),
  );
}

/** The response with all its media types: the document declares JSON as its content, and others in an extension. */
function withAlternatives(response: Json): { content?: Content } {
  const { content, 'x-alternative-content': others } = response as Record<string, Content | undefined>;
  return content === undefined ? {} : { content: { ...content, ...others } };
}

/** A validator for the document's schemas, whose references point into the document. */
function validatorOf(document: Json): (schema: Json, value: unknown) => string | undefined {
  // Compiling each referenced schema once, without inlining or optimizing it, takes a third of the time.
  const ajv = new Ajv({ strict: false, allErrors: true, inlineRefs: false, code: { optimize: false } });
  addFormats.default(ajv);
  for (const format of ['int32', 'int64', 'double', 'float', 'binary', 'password'])
    ajv.addFormat(format, true);
  ajv.addSchema({ $id: 'catalog:document', components: document.components });
  const known = new WeakMap<Json, ValidateFunction>();
  // Most schemas, errors above all, are declared many times.
  const compiled = new Map<string, ValidateFunction>();
  function compile(schema: Json): ValidateFunction {
    const text = JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"catalog:document#/');
    const validate = compiled.get(text) ?? ajv.compile(JSON.parse(text) as Json);
    compiled.set(text, validate);
    known.set(schema, validate);
    return validate;
  }
  return (schema, value) => {
    const validate = known.get(schema) ?? compile(schema);
    return validate(value) ? undefined : ajv.errorsText(validate.errors);
  };
}

const integers = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'X-RateLimit-Window'];

/** The headers that every response carries. */
function checkHeaders({ headers, requestId, status }: Observed, what: string): void {
  for (const name of integers) {
    const value = headers.get(name);
    if (value === null || !/^\d+$/.test(value)) throw new Error(`${what}: ${name} is ${value}`);
  }
  const [, limit] = /^("[a-z -]+");r=\d+;t=\d+$/.exec(headers.get('RateLimit') ?? '') ?? [];
  if (limit === undefined) throw new Error(`${what}: RateLimit is ${headers.get('RateLimit')}`);
  const [, policy] = /^("[a-z -]+");q=\d+;w=\d+$/.exec(headers.get('RateLimit-Policy') ?? '') ?? [];
  if (policy !== limit) throw new Error(`${what}: RateLimit-Policy is ${headers.get('RateLimit-Policy')}`);
  const id = headers.get('X-Request-ID');
  if (id === null || id === '' || (requestId !== null && id !== requestId))
    throw new Error(`${what}: X-Request-ID is ${id}, sent was ${requestId}`);
  const challenged = headers.has('WWW-Authenticate');
  if (challenged !== (status === 401)) throw new Error(`${what}: WWW-Authenticate is for 401 only`);
  if (status === 429 && !/^[1-9]\d*$/.test(headers.get('Retry-After') ?? ''))
    throw new Error(`${what}: Retry-After is ${headers.get('Retry-After')}`);
}

/** An error says what went wrong, to programs and to people, and reveals no internals. */
function checkError({ text, headers, status }: Observed, what: string): void {
  const body = JSON.parse(text) as Json;
  if (typeof body.error !== 'string' || !/^[A-Z][A-Z_]+$/.test(body.error))
    throw new Error(`${what}: ${text}`);
  if (typeof body.message !== 'string' || body.message === '') throw new Error(`${what}: ${text}`);
  if (body.requestId !== headers.get('X-Request-ID')) throw new Error(`${what}: ${text}`);
  if (headers.has('ETag')) throw new Error(`${what}: an error is no representation, but has an ETag`);
  if (headers.get('Cache-Control') !== 'no-store') throw new Error(`${what}: an error may be stored`);
  // This 500 occurs only where a test has damaged the data.
  if (status === 500 && body.error !== 'DATABASE_DAMAGED') throw new Error(`${what}: ${text}`);
}
