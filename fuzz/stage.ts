/** A service on a fresh database, with everything that requests to it need. */
import { type Contract, contractOf, type Operation } from '../test/support/http/contract.ts';
import { call } from '../test/support/http/http.ts';
import { type Walk, walkOf, webhookSecret } from '../test/support/http/walk.ts';
import { type DatabaseKind, startTestService, type TestService } from '../test/support/service/service.ts';
import { type Credentials, credentialsOf } from './credentials.ts';
import type { Draft } from './requests.ts';
import type { Schema } from './schemas.ts';
import type { WireRequest } from './wire.ts';

/** The target of all requests, replaced when its own accounts have been damaged. */
export interface Stage {
  /** The document at `/openapi.json`, and the check of responses against it. */
  readonly document: Schema;
  readonly contract: Contract;
  readonly service: TestService;
  readonly walk: Walk;
  readonly credentials: Credentials;
}

/** With this secret, the service accepts the Stripe events that the walk signs. */
const settings = { STRIPE_WEBHOOK_SECRET: webhookSecret };

export async function startStage(kind: DatabaseKind): Promise<Stage> {
  const service = await startTestService(kind, settings);
  const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as Schema;
  const contract = contractOf(document);
  const walk = await walkOf(service, contract.operations);
  return { document, contract, service, walk, credentials: await credentialsOf(service, walk) };
}

/** Removes the attributes that requests have defined. */
export async function removeAttributes(service: TestService): Promise<void> {
  const { body, text } = await call(service, { path: '/v1/attributes', as: 'admin' });
  if (!Array.isArray(body.data)) throw new Error(`GET /v1/attributes answered ${text}`);
  for (const { id } of body.data)
    await call(service, { method: 'DELETE', path: `/v1/attributes/${id}`, as: 'admin' });
}

/** Whether the service's own accounts are still as they were created. */
export async function isIntact(service: TestService): Promise<boolean> {
  for (const role of ['admin', 'editor', 'user'] as const) {
    const { status, body } = await call(service, { path: '/v1/me', as: role });
    if (status !== 200 || body.role !== role) return false;
  }
  return true;
}

/** A draft without query, body or changes to the operation's request. */
export const plainDraft = ({ method, path }: Operation): Draft => ({
  method,
  segments: path.split('/').flatMap(segment => (segment.startsWith('{') ? [undefined] : [])),
  query: '',
  headers: [],
  who: 'admitted',
  contentType: undefined,
  body: undefined,
});

/** @param path the path of an existing resource; segments of the draft take precedence over its own */
export async function requestOf(
  operation: Operation,
  path: string,
  draft: Draft,
  { walk, credentials }: Stage,
): Promise<WireRequest> {
  const existing = path.split('/');
  let parameter = 0;
  const target = operation.path
    .split('/')
    .map((segment, index) =>
      segment.startsWith('{') ? (draft.segments[parameter++] ?? existing[index]) : segment,
    )
    .join('/');
  const isSigned = draft.body !== undefined && draft.who === 'admitted';
  const signature = isSigned ? await walk.signature(operation, Buffer.from(draft.body ?? []).toString()) : {};
  const own = [
    ...(draft.contentType === undefined ? [] : ([['Content-Type', draft.contentType]] as const)),
    ...credentials(draft.who, operation),
    ...Object.entries(signature),
  ];
  const added = draft.headers.filter(([name]) => !own.some(([given]) => given === name));
  return {
    method: draft.method,
    target: draft.query === '' ? target : `${target}?${draft.query}`,
    headers: [...own, ...added],
    body: draft.body,
  };
}
