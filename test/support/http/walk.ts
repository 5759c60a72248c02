/** Turns a declared operation into requests: real resources for its path, the document's examples for its body. */
import Stripe from 'stripe';
import type { Role } from '../../../src/http/access.ts';
import { record } from '../data/events.ts';
import { plainPng, sendImage } from '../data/images.ts';
import { addKey, addPerson, userIdOf } from '../data/people.ts';
import { mailTo, tokenIn } from '../peers/mails.ts';
import { emailOf, password, type TestService } from '../service/service.ts';
import { type MailedTokens, type Operation, realBodies } from './contract.ts';
import { type Call, call, type Received } from './http.ts';

export interface Walk {
  /** The operation's path, with ids of newly created resources. */
  existingPath(operation: Operation): Promise<string>;
  /** The operation's path, with ids of resources that are created once: for requests that change nothing. */
  keptPath(operation: Operation): Promise<string>;
  /** The operation's path, with ids of no resource. */
  missingPath(operation: Operation): string;
  /** Credentials that the operation admits. */
  credentials(operation: Operation): Pick<Call, 'as' | 'headers'>;
  /** Call this after sending the operation with its credentials: those that its success has ended are replaced. */
  used(operation: Operation, status: number): Promise<void>;
  /** An API key that the operation does not admit. */
  refusedKey(operation: Operation): string;
  /** A body that the operation accepts; undefined when it takes none. */
  body(operation: Operation): unknown;
  /** The headers with the signature of a body, for operations whose senders sign it. */
  signature(operation: Operation, body: string): Promise<Readonly<Record<string, string>>>;
  /** Sends the operation with a body that it accepts; values that must be unique are varied until they are. */
  send(operation: Operation, path: string, request?: Partial<Call>): Promise<Received>;
}

const missingId = '2147483647';

/** Operations that add resources to collections without POST. */
const filledBy: Readonly<Record<string, string>> = { '/v1/invoices': 'payOrder' };

/** Signs Stripe's events. Services for the walk are started with it as STRIPE_WEBHOOK_SECRET. */
export const webhookSecret = 'whsec_for_tests';
const signatures: Readonly<Record<string, (body: string, now: number) => Promise<Record<string, string>>>> = {
  async receiveStripeEvent(payload, now) {
    const signed = { payload, secret: webhookSecret, timestamp: Math.floor(now / 1000) };
    return { 'Stripe-Signature': await Stripe.webhooks.generateTestHeaderStringAsync(signed) };
  },
};

const endsSessions = ({ operationId }: Operation) => ['changePassword', 'deleteMe'].includes(operationId);

/** To be created once per service, since it adds an API key for each scope that the document names. */
export async function walkOf(service: TestService, operations: readonly Operation[]): Promise<Walk> {
  const keys = new Map<string, string>();
  for (const scope of new Set([
    ...operations.flatMap(({ scope }) => scope ?? []),
    'products:read',
    'data:read',
  ])) {
    keys.set(scope, (await addKey(service, scope))['X-API-Key']);
  }
  const login = { method: 'POST', path: '/v1/auth/login', body: { email: emailOf('user'), password } };
  // Each operation on sessions has a session of its own, because signing out ends it.
  const refreshTokens = new Map<string, string>();
  for (const { operationId } of operations.filter(({ operationId }) => operationId in realBodies))
    refreshTokens.set(operationId, (await call(service, login)).body.refreshToken);
  const mailed = await mailedTokens(service, keys.get('users:write') ?? '');
  // Operations that end all sessions of their caller have a user of their own: the walk still needs its other sessions.
  const another = () => addPerson(service, 'user', { name: 'Who ends sessions' });
  let leaving = await another();
  let variation = 0;
  // The product that bodies refer to. Its stock is tracked, and its id is above 3, because examples change the products
  // 1 to 3.
  let productId = 0;
  while (productId <= 3) {
    const body = { name: 'For what refers to a product', price: 12.5, stock: { onHand: 1_000_000 } };
    productId = (await call(service, { method: 'POST', path: '/v1/products', as: 'admin', body })).body.id;
  }

  const actorOf = ({ roles }: Operation): Role | undefined => (roles.includes('admin') ? 'admin' : roles[0]);
  const credentials = (operation: Operation): Pick<Call, 'as' | 'headers'> => {
    if (operation.isPublic) return {};
    if (endsSessions(operation)) return { headers: leaving.headers };
    const as = actorOf(operation);
    if (as !== undefined) return { as };
    return { headers: { 'X-API-Key': keys.get(operation.scope ?? '') ?? '' } };
  };

  const bodyFor = (operation: Operation): unknown =>
    referring(bodyOf(operation, refreshTokens.get(operation.operationId), mailed), productId);
  const signature = async ({ operationId }: Operation, body: string) =>
    (await signatures[operationId]?.(body, service.clock.now())) ?? {};

  async function used(operation: Operation, status: number): Promise<void> {
    if (endsSessions(operation) && status === 204) leaving = await another();
  }

  async function send(operation: Operation, path: string, request: Partial<Call> = {}): Promise<Received> {
    let body = bodyFor(operation);
    const { as, headers } = { ...credentials(operation), ...request };
    const sentBody = request.body ?? body;
    const text = typeof sentBody === 'string' ? sentBody : (JSON.stringify(sentBody) ?? '');
    const signed = await signature(operation, text);
    for (let attempt = 0; ; attempt++) {
      const sent = {
        method: operation.method,
        path: withQuery(operation, path),
        ...(body === undefined ? {} : { body }),
        ...request,
        ...(as === undefined ? {} : { as }),
        headers: {
          ...Object.fromEntries(filledIn(operation, 'header')),
          ...(request.as === undefined ? credentials(operation).headers : {}),
          ...signed,
          ...headers,
        },
      };
      const response = await call(service, sent);
      await used(operation, response.status);
      const field = response.body?.error === 'DUPLICATE' ? response.body.details?.[0]?.field : undefined;
      if (attempt === 3 || !isObject(body) || typeof body[field] !== 'string') return response;
      body = { ...body, [field]: varied(body[field], ++variation) };
    }
  }

  /** The operation that creates a resource in the collection at `template`, or in one below another resource. */
  function creatorOf(template: string): Operation | undefined {
    const makers = operations.filter(({ method }) => method === 'POST');
    const elsewhere = `}${template.slice(template.lastIndexOf('/'))}`;
    const own = makers.find(({ path }) => path === template);
    return own ?? makers.find(({ path }) => path.endsWith(elsewhere));
  }

  /** Creates a resource in the collection at `template`, whose path with real ids is `path`. */
  async function make(template: string, path: string): Promise<string> {
    if (template === '/media') return uploaded();
    const creator = creatorOf(template);
    if (creator === undefined) return firstOf(template, path);
    const made = await send(creator, creator.path === template ? path : await existingPath(creator));
    if (made.status !== 201) throw new Error(`POST ${creator.path} answered ${made.status}: ${made.text}`);
    return String((made.body.data ?? made.body).id);
  }

  /** Uploads an image. @returns its file name, which is derived from its content */
  async function uploaded(): Promise<string> {
    const body = { name: 'With an image', price: 1 };
    const product = await call(service, { method: 'POST', path: '/v1/products', as: 'admin', body });
    const made = await sendImage(service, product.body, plainPng(8, 8, 200, 100, 50));
    return String(made.body.url).slice('/media/'.length);
  }

  /** For collections without POST: the first item of the list, after an event has filled it. */
  async function firstOf(template: string, path: string): Promise<string> {
    const list = operations.find(({ method, path: declared }) => method === 'GET' && declared === template);
    if (list === undefined) throw new Error(`The document has no way to make or find what is in ${template}`);
    const first = async (): Promise<unknown> => (await send(list, path)).body?.data?.[0]?.id;
    const filler = operations.find(({ operationId }) => operationId === filledBy[template]);
    const fill = () => (filler === undefined ? somethingHappens(list) : fillBy(filler));
    // Requests that run at the same time may remove the item before it is read.
    for (let attempt = 0; attempt < 5; attempt++) {
      const id = await first();
      if (id !== undefined) return String(id);
      await fill();
    }
    throw new Error(`${template} is empty, and nothing is declared that fills it`);
  }

  /** Causes an event that concerns the caller of the list: the service fills these collections from events. */
  async function somethingHappens(list: Operation): Promise<void> {
    const customerId = await userIdOf(service, actorOf(list) ?? 'admin');
    await record(service, { resource: 'order', resourceId: 1, action: 'paid', after: { id: 1, customerId } });
  }

  async function fillBy(filler: Operation): Promise<void> {
    const filled = await send(filler, await existingPath(filler));
    if (filled.status >= 300) throw new Error(`${filler.operationId} answered ${filled.text}`);
    await service.settle();
  }

  const existingPath = (operation: Operation) => filledPath(operation, make);

  const kept = new Map<string, Promise<string>>();
  const keptPath = (operation: Operation) =>
    filledPath(operation, (template, path) => {
      const one = kept.get(template) ?? make(template, path);
      // Without POST it is the first item, which other operations may remove.
      if (creatorOf(template) !== undefined) kept.set(template, one);
      return one;
    });

  return {
    existingPath,
    keptPath,
    missingPath: ({ path }) => path.replaceAll(/\{\w+\}/g, missingId),
    credentials,
    refusedKey: ({ scope }) => keys.get(scope === 'data:read' ? 'products:read' : 'data:read') ?? '',
    body: bodyFor,
    signature,
    used,
    send,
  };
}

/** @param idOf returns the id of a resource in the collection at `template`, whose path with real ids is `path` */
async function filledPath(
  operation: Operation,
  idOf: (template: string, path: string) => Promise<string>,
): Promise<string> {
  let template = '';
  let path = '';
  for (const segment of operation.path.split('/').slice(1)) {
    path += /^\{\w+\}$/.test(segment) ? `/${await idOf(template, path)}` : `/${segment}`;
    template += `/${segment}`;
  }
  return path;
}

const noTokens: MailedTokens = { password: 'none', verification: 'none', restoration: 'none' };

/** Creates three users who each get a mail with a token: to set a password, to confirm an address, to restore one. */
async function mailedTokens(service: TestService, key: string): Promise<MailedTokens> {
  const made = { name: 'Mailed', role: 'user' };
  const people = { password: 'invited@walk.example', verification: 'unverified@walk.example' };
  for (const body of [
    { ...made, email: people.password },
    { ...made, email: people.verification, password },
  ])
    await call(service, { method: 'POST', path: '/v1/users', as: 'admin', body });
  const former = 'former@walk.example';
  const moving = { method: 'POST', path: '/v1/users', as: 'admin' } as const;
  const { id } = (await call(service, { ...moving, body: { ...made, email: former, password } })).body;
  await call(service, { method: 'POST', path: `/v1/users/${id}/verify`, as: 'admin' });
  const before = (await service.mails()).length;
  const change = { method: 'PATCH', path: `/v1/users/${id}`, headers: { 'X-API-Key': key } } as const;
  await call(service, { ...change, body: { email: 'moved@walk.example' } });
  const mails = await service.mails();
  const goodbye = mails.filter(
    ({ subject, to }) => to?.[0]?.address === former && subject?.endsWith('was changed'),
  );
  if (mails.length !== before + 2 || goodbye[0] === undefined)
    throw new Error('no mail was sent to a former address');
  const tokenFor = (address: string) => tokenIn(mailTo(mails, address));
  return {
    password: tokenFor(people.password),
    verification: tokenFor(people.verification),
    restoration: tokenIn(goodbye[0]),
  };
}

/** The operation's example body, or one with credentials of this run's accounts. */
export function bodyOf(operation: Operation, refreshToken = 'none', mailed = noTokens): unknown {
  const real = realBodies[operation.operationId];
  if (real !== undefined) return real(refreshToken, password, mailed);
  const content = operation.body?.['application/json'];
  if (content === undefined) return undefined;
  const named = Object.values(content.examples ?? {})[0] as { value?: unknown } | undefined;
  const schema = content.schema as { example?: unknown; examples?: unknown[] } | undefined;
  const example = content.example ?? named?.value ?? schema?.example ?? schema?.examples?.[0];
  if (example === undefined) throw new Error(`${operation.operationId} declares no example of its body`);
  return example;
}

/** The example, with an existing product wherever it names one. */
function referring(example: unknown, productId: number): unknown {
  if (example === undefined) return undefined;
  return JSON.parse(JSON.stringify(example, (name, value) => (name === 'productId' ? productId : value)));
}

/** The values that a documentation page with a "try it" form fills in for parameters: examples and defaults. */
function filledIn(operation: Operation, place: 'query' | 'header'): [name: string, value: string][] {
  return operation.parameters.flatMap(({ name, in: where, required, example, schema }) => {
    if (where !== place) return [];
    const examples = (schema?.examples ?? []) as unknown[];
    const value = example ?? schema?.example ?? examples[0] ?? schema?.default;
    if (value === undefined && required === true)
      throw new Error(`${operation.operationId}: ${name} has no example`);
    if (value === undefined) return [];
    // An object is exploded into a parameter for each of its members (OpenAPI, style `form`).
    if (!isObject(value)) return [[name, String(value)]];
    return Object.entries(value).map(([member, one]) => [member, String(one)] as [string, string]);
  });
}

/** The path with the filled-in query, added to the one it may have. */
function withQuery(operation: Operation, path: string): string {
  const query = new URLSearchParams(filledIn(operation, 'query')).toString();
  if (query === '') return path;
  return `${path}${path.includes('?') ? '&' : '?'}${query}`;
}

/** The query of required parameters, with its question mark. */
export function requiredQuery(operation: Operation): string {
  return withQuery({ ...operation, parameters: operation.parameters.filter(({ required }) => required) }, '');
}

function varied(value: string, variation: number): string {
  return value.includes('@') ? `v${variation}.${value}` : `${value}-${variation}`;
}

function isObject(value: unknown): value is Record<string, string> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
