/** The clients of the crash test: what each requests, what was acknowledged, and what is unknown. */
import { type Random, random } from '../../../bench/load/random.ts';
import type { Lives, Operation } from './lives.ts';

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly replayed: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape, and assert what they find
  readonly body: any;
}

interface Request {
  readonly operation: Operation;
  /** Identifies what the request is about: an address, an id, or the client's own number. */
  readonly subject: string;
  readonly method: string;
  readonly path: string;
  readonly body?: object;
  readonly key?: string;
}

/** A request that was sent. */
export interface Attempt extends Request {
  readonly client: Client;
  /** The response; undefined when the service died before it was complete. */
  answer: Answer | undefined;
}

export interface Client {
  readonly id: number;
  readonly email: string;
  readonly token: string;
}

export interface Ledger {
  readonly attempts: Attempt[];
  /** Requests sent again with their Idempotency-Key because the service died before responding. */
  repeated: number;
  /** Requests sent again although they had a response. */
  replayed: number;
  /** Violations that the clients saw. */
  readonly surprises: string[];
}

export interface Item {
  readonly productId: number;
  readonly quantity: number;
}

export interface ClientOptions {
  readonly lives: Lives;
  readonly ledger: Ledger;
  readonly seed: number;
  /** Ids of products that can be ordered, and the price of each in cents. */
  readonly prices: ReadonlyMap<number, number>;
  isDone(): boolean;
}

const expected: Readonly<Record<Operation, readonly number[]>> = {
  place: [201],
  // 409: the order is already paid or cancelled.
  pay: [200, 409],
  cancel: [200, 409],
  send: [202],
  reset: [202],
  forget: [202],
  patch: [200],
  product: [201],
  invite: [201],
};
/** Mails in one life of the service: with more, the queue would take long to empty at the end. */
const mailsPerLife = 3;
/** Below the limit of 10 in 15 minutes. */
const forgetLimit = 8;

/** Sends one request. @returns undefined when the service died before its response was complete */
async function ask({ lives, ledger }: ClientOptions, attempt: Omit<Attempt, 'answer'>) {
  const { operation, method, path, body, key, client } = attempt;
  const life = await lives.current();
  try {
    const sent = fetch(`${life.url}${path}`, {
      method,
      // A new connection: on a kept one, fetch itself would retry.
      keepalive: false,
      headers: {
        Authorization: `Bearer ${client.token}`,
        'Content-Type': 'application/json',
        'Accept-Encoding': 'identity',
        ...(key === undefined ? {} : { 'Idempotency-Key': key }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (method !== 'GET') void lives.reach(`${operation} sent`);
    const response = await sent;
    const text = await response.text();
    if (method !== 'GET') void lives.reach(`${operation} answered`);
    const replayed = response.headers.get('Idempotency-Replayed') === 'true';
    return { status: response.status, text, replayed, body: JSON.parse(text) } satisfies Answer;
  } catch (error) {
    if (!life.isOver) ledger.surprises.push(`${method} ${path}: ${error}`);
    return undefined;
  }
}

/** Repeats the request until there is a response, if that is safe: a read, or a write with an Idempotency-Key. */
async function askSurely(options: ClientOptions, request: Request, client: Client): Promise<Attempt> {
  const { ledger } = options;
  const attempt: Attempt = { ...request, client, answer: undefined };
  if (request.method !== 'GET') ledger.attempts.push(attempt);
  for (;;) {
    const answer = await ask(options, attempt);
    const isSafe = request.method === 'GET' || request.key !== undefined;
    // The database may not have noticed yet that the process that began the request is dead.
    const isBusy = answer?.status === 409 && answer.body.error === 'IDEMPOTENCY_KEY_IN_USE';
    if (isSafe && (answer === undefined || isBusy)) {
      if (request.key !== undefined) ledger.repeated++;
      continue;
    }
    attempt.answer = answer;
    const right = request.method === 'GET' ? [200] : expected[request.operation];
    if (answer !== undefined && !right.includes(answer.status))
      ledger.surprises.push(`${request.method} ${request.path}: ${answer.status} ${answer.text}`);
    return attempt;
  }
}

/** Places orders, and changes them and the client's account at random, until stopped. */
export async function runCustomer(options: ClientOptions, client: Client): Promise<void> {
  const { lives, ledger, prices, isDone } = options;
  const chance = random(options.seed + client.id);
  const productIds = [...prices.keys()];
  const open: number[] = [];
  const paid: number[] = [];
  const answered: Attempt[] = [];
  let serial = 0;
  let forgotten = 0;
  let mails = 0;

  const does = async (
    operation: Operation,
    subject: string,
    path: string,
    body?: object,
    method = 'POST',
  ) => {
    const isKeyed = method === 'POST' && operation !== 'forget' && chance.next() < 0.7;
    const keyed = isKeyed ? { key: `${client.id}-${++serial}-${operation}` } : {};
    const sent = body === undefined ? {} : { body };
    const request = { operation, subject, method, path, ...sent, ...keyed };
    const attempt = await askSurely(options, request, client);
    if (isKeyed && attempt.answer !== undefined && attempt.answer.status < 300) answered.push(attempt);
    return attempt.answer;
  };
  const takeOpen = () => open.splice(chance.integer(0, open.length - 1), 1)[0];

  const place = async () => {
    // The quantity of the first item is the client's number for the order.
    const number = ++serial;
    const ids = productIds.slice(0, chance.integer(1, productIds.length));
    const items = ids.map((productId, at): Item => ({ productId, quantity: at === 0 ? number : at }));
    const path = `/v1/users/${client.id}/orders`;
    const answer = await does('place', `${client.id}:${number}`, path, { items });
    if (answer?.status === 201) open.push(answer.body.id);
  };
  const act = async (operation: 'pay' | 'cancel', id: number) => {
    const action = operation === 'pay' ? 'payment' : 'cancel';
    const answer = await does(operation, String(id), `/v1/orders/${id}/${action}`);
    if (operation === 'pay' && answer?.status === 200) paid.push(id);
  };
  const send = async () => {
    const orderId = paid[chance.integer(0, paid.length - 1)];
    const path = `/v1/invoices?orderId=${orderId}`;
    const read = { operation: 'send', subject: '', method: 'GET', path } as const;
    const { answer } = await askSurely(options, read, client);
    const ids: { id: number }[] = answer?.body.data ?? [];
    const [invoice] = ids;
    if (invoice === undefined || ids.length > 1)
      ledger.surprises.push(`order ${orderId} is paid and has ${ids.length} invoices`);
    else await does('send', String(invoice.id), `/v1/invoices/${invoice.id}/send`);
  };
  const step = async (): Promise<void> => {
    const order = chance.next() < 0.5 ? takeOpen() : undefined;
    if (order !== undefined) {
      const acts = chance.pick([['pay'], ['pay'], ['pay'], ['cancel'], ['pay', 'cancel']] as const);
      await Promise.all(acts.map(operation => act(operation, order)));
      return;
    }
    const what = chance.next();
    if (what < 0.15) {
      const body = { name: `Name ${client.id}-${++serial}` };
      await does('patch', body.name, `/v1/users/${client.id}`, body, 'PATCH');
    } else if (what < 0.25 && answered.length > 0) await repeat(options, chance, answered);
    else if (what < 0.45 && mails++ < mailsPerLife) {
      if (paid.length > 0 && chance.next() < 0.6) await send();
      else if (forgotten < forgetLimit && chance.next() < 0.3) {
        forgotten++;
        await does('forget', client.email, '/v1/auth/forgot-password', { email: client.email });
      } else await does('reset', client.email, `/v1/users/${client.id}/password-reset`);
    } else await place();
  };

  let life = await lives.current();
  while (!isDone()) {
    await step();
    const now = await lives.current();
    if (now !== life) mails = 0;
    life = now;
  }
}

/** A request that already had a response gets the same one again, whichever life of the service sent it. */
async function repeat(options: ClientOptions, chance: Random, answered: readonly Attempt[]): Promise<void> {
  const { ledger } = options;
  const known = answered[chance.integer(0, answered.length - 1)];
  if (known === undefined) return;
  const answer = await ask(options, known);
  if (answer === undefined) return;
  ledger.replayed++;
  if (answer.text !== known.answer?.text || answer.status !== known.answer.status || !answer.replayed)
    ledger.surprises.push(`${known.path} with ${known.key} again: ${answer.status} ${answer.text}`);
}

/** Creates products, and accounts whose owners get a mail to set a password, until stopped. */
export async function runAdministrator(options: ClientOptions, client: Client): Promise<void> {
  const { lives, isDone } = options;
  const chance = random(options.seed + client.id);
  let serial = 0;
  let invited = 0;
  let life = await lives.current();
  while (!isDone()) {
    const number = ++serial;
    const keyed = chance.next() < 0.5 ? { key: `admin-${number}` } : {};
    const common = { method: 'POST', ...keyed } as const;
    if (chance.next() < 0.2 && invited++ < mailsPerLife) {
      const email = `invited-${number}@people.example`;
      const body = { name: `Invited ${number}`, email };
      const request = { operation: 'invite', subject: email, path: '/v1/users', body, ...common } as const;
      await askSurely(options, request, client);
    } else {
      const sku = `MADE-${number}`;
      const category = `category ${number % 3}`;
      const body = { name: `Made ${number}`, price: number / 4, sku, category };
      const request = { operation: 'product', subject: sku, path: '/v1/products', body, ...common } as const;
      await askSurely(options, request, client);
    }
    const now = await lives.current();
    if (now !== life) invited = 0;
    life = now;
  }
}
