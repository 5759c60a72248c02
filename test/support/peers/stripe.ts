/**
 * The part of Stripe that the service uses, on a port of its own: payment intents, their cancellation, refunds,
 * and Idempotency-Key as Stripe honours it. Received requests are kept, so that tests can inspect them.
 */
import Stripe from 'stripe';
import { call, type Received } from '../http/http.ts';
import { webhookSecret } from '../http/walk.ts';
import type { TestService } from '../service/service.ts';

export type Mood = 'well' | 'slow' | 'declining' | 'refusing' | 'broken' | 'busy' | 'closed';

export interface Intent {
  readonly id: string;
  readonly object: 'payment_intent';
  readonly amount: number;
  readonly amount_received: number;
  readonly currency: string;
  readonly status: string;
  readonly client_secret: string;
  readonly metadata: { readonly orderId: string };
}

interface RequestContext {
  readonly method: string;
  readonly path: string;
  readonly form: Readonly<Record<string, string>>;
  readonly idempotencyKey: string | null;
}

export interface FakeStripe {
  readonly url: string;
  /** The settings of a service that takes its payments here. */
  readonly settings: Readonly<Record<string, string>>;
  readonly asked: RequestContext[];
  readonly intents: Map<string, Intent>;
  readonly refunds: string[];
  /** How it responds from now on. */
  mood: Mood;
  /** The body of every response, with 200, in place of the usual one. */
  body: string | undefined;
  /** The customer confirms: the intent is paid. @param received by default its amount */
  pay(id: string, received?: number): void;
  /** Changes the status of an intent in another way, such as `processing` while a bank decides. */
  move(id: string, status: string): void;
  /** Responds to the requests that arrived while Stripe was slow. */
  release(): void;
  stop(): Promise<void>;
}

const failures: Readonly<Record<string, [status: number, error: object]>> = {
  declining: [402, { type: 'card_error', code: 'card_declined', message: 'Your card was declined.' }],
  refusing: [400, { type: 'invalid_request_error', code: 'amount_too_small', message: 'Too small.' }],
  broken: [500, { type: 'api_error', message: 'Something is wrong inside.' }],
  closed: [401, { type: 'invalid_request_error', message: 'Invalid API Key provided.' }],
  busy: [429, { type: 'invalid_request_error', code: 'rate_limit', message: 'Too many requests.' }],
};

export function fakeStripe(): FakeStripe {
  const asked: RequestContext[] = [];
  const intents = new Map<string, Intent>();
  const refunds: string[] = [];
  const responses = new Map<string, { form: string; status: number; body: object }>();
  const held: (() => void)[] = [];
  const run = crypto.randomUUID().slice(0, 8);

  const requireIntent = (id: string): Intent => {
    const intent = intents.get(id);
    if (intent === undefined) throw new Error(`there is no intent ${id}`);
    return intent;
  };
  const unexpected = (intent: Intent) =>
    failed(400, {
      type: 'invalid_request_error',
      code: 'payment_intent_unexpected_state',
      message: `it is ${intent.status}`,
    });
  const failed = (status: number, error: object) => ({ status, body: { error } });

  function response(method: string, path: string, form: Readonly<Record<string, string>>) {
    if (method === 'POST' && path === '/v1/payment_intents') {
      const id = `pi_${run}_${intents.size + 1}`;
      const intent: Intent = {
        id,
        object: 'payment_intent',
        amount: Number(form.amount),
        amount_received: 0,
        currency: form.currency ?? '',
        status: 'requires_payment_method',
        client_secret: `${id}_secret_${run}`,
        metadata: { orderId: form['metadata[orderId]'] ?? '' },
      };
      intents.set(id, intent);
      return { status: 200, body: intent };
    }
    if (method === 'POST' && path === '/v1/refunds') {
      const reference = form.payment_intent ?? '';
      if (intents.get(reference)?.status !== 'succeeded')
        return failed(400, { type: 'invalid_request_error' });
      refunds.push(reference);
      return { status: 200, body: { id: `re_${refunds.length}`, object: 'refund', status: 'succeeded' } };
    }
    const intent = intents.get(path.split('/')[3] ?? '');
    if (intent === undefined)
      return failed(404, {
        type: 'invalid_request_error',
        code: 'resource_missing',
        message: 'No such intent.',
      });
    if (method === 'GET') return { status: 200, body: intent };
    if (['succeeded', 'canceled', 'processing'].includes(intent.status)) return unexpected(intent);
    const cancelled = { ...intent, status: 'canceled' };
    intents.set(intent.id, cancelled);
    return { status: 200, body: cancelled };
  }

  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      const path = new URL(request.url).pathname;
      const text = await request.text();
      const form = Object.fromEntries(new URLSearchParams(text));
      const key = request.headers.get('idempotency-key');
      asked.push({ method: request.method, path, form, idempotencyKey: key });
      if (fake.mood === 'slow') await new Promise<void>(resolve => held.push(resolve));
      if (fake.body !== undefined)
        return new Response(fake.body, { headers: { 'Content-Type': 'application/json' } });
      const failure = failures[fake.mood];
      if (failure !== undefined) return Response.json({ error: failure[1] }, { status: failure[0] });
      const before = key === null ? undefined : responses.get(key);
      if (before !== undefined && before.form !== text)
        return Response.json(
          { error: { type: 'idempotency_error', message: 'Another body.' } },
          { status: 400 },
        );
      const given = before ?? { form: text, ...response(request.method, path, form) };
      if (key !== null) responses.set(key, given);
      return Response.json(given.body, { status: given.status });
    },
  });

  const fake: FakeStripe = {
    url: `http://127.0.0.1:${server.port}`,
    settings: {
      STRIPE_SECRET_KEY: 'sk_test_for_tests',
      STRIPE_WEBHOOK_SECRET: webhookSecret,
      STRIPE_URL: `http://127.0.0.1:${server.port}`,
    },
    asked,
    intents,
    refunds,
    mood: 'well',
    body: undefined,
    pay(id, received) {
      const intent = requireIntent(id);
      intents.set(id, { ...intent, status: 'succeeded', amount_received: received ?? intent.amount });
    },
    move(id, status) {
      intents.set(id, { ...requireIntent(id), status });
    },
    release() {
      for (const release of held.splice(0)) release();
    },
    async stop() {
      fake.release();
      await server.stop(true);
    },
  };
  return fake;
}

/** Posts an event as Stripe does; by default with a valid signature. */
export async function report(
  service: TestService,
  intent: Partial<Intent> | undefined,
  { type = 'payment_intent.succeeded', secret = webhookSecret, at = service.clock.now() } = {},
): Promise<Received> {
  return reportAs(service, { id: 'evt_1', object: 'event', type, data: { object: intent } }, { secret, at });
}

/** Posts any value, signed as an event. */
export async function reportAs(
  service: TestService,
  value: unknown,
  { secret = webhookSecret, at = service.clock.now() } = {},
): Promise<Received> {
  const body = JSON.stringify(value);
  const signed = { payload: body, secret, timestamp: Math.floor(at / 1000) };
  const signature = await Stripe.webhooks.generateTestHeaderStringAsync(signed);
  return call(service, {
    method: 'POST',
    path: '/v1/webhooks/stripe',
    headers: { 'Content-Type': 'application/json; charset=utf-8', 'Stripe-Signature': signature },
    body,
  });
}
