/** Payments through Stripe's own library, which is loaded when it is first needed. */
import type Stripe from 'stripe';
import { z } from 'zod';
import type { Config } from '../config.ts';
import { getErrorCode } from '../error-text.ts';
import { PermanentFailure } from '../events/dispatcher.ts';
import { isObject, tryParseJson } from '../json-object.ts';
import { getExponent } from '../money.ts';
import { requireSpareFiles } from '../open-files.ts';
import { type Clock, hourMs } from './clock.ts';
import { prepareLibrary } from './library.ts';
import {
  type Cancellation,
  type Due,
  PaymentError,
  type PaymentProvider,
  type PaymentReports,
  type Payments,
} from './payment.ts';
import { readLimitedText } from './response-text.ts';

/** The longest wait for a customer; well within the time limit of a delivery attempt (events/attempts.ts). */
const timeoutMs = 5000;

/** Characters of a response; those of Stripe are some thousands long. */
const maxResponseLength = 1024 * 1024;

/** ISO 4217 currencies for which Stripe uses a different number of decimal digits. */
const stripeExponents: Readonly<Record<string, number>> = { ISK: 2, UGX: 2, MGA: 0 };

/** An amount in Stripe's own whole units; undefined if it cannot be expressed in them. */
export function toStripeAmount({ total, currency }: Pick<Due, 'total' | 'currency'>): number | undefined {
  const exponent = getExponent(currency);
  const amount = total * 10 ** ((stripeExponents[currency] ?? exponent) - exponent);
  // Stripe charges currencies of three decimals in multiples of ten.
  const step = exponent === 3 ? 10 : 1;
  return Number.isSafeInteger(amount) && amount % step === 0 ? amount : undefined;
}

/** Creates what the settings ask for; reports are still accepted when new payments are no longer opened. */
export function createStripePayments(
  settings: Pick<Config, 'STRIPE_SECRET_KEY' | 'STRIPE_WEBHOOK_SECRET' | 'STRIPE_URL'>,
  clock: Clock,
): Payments {
  const { STRIPE_SECRET_KEY: key, STRIPE_WEBHOOK_SECRET: secret, STRIPE_URL: url } = settings;
  return {
    provider: key === undefined ? undefined : createStripeProvider(key, url),
    reports: secret === undefined ? undefined : createStripeReports(secret, clock),
  };
}

/** @param url the address of Stripe, without a path */
function createStripeProvider(secretKey: string, url: string): PaymentProvider {
  const { protocol, hostname, port } = new URL(url);
  const secure = protocol === 'https:';
  const getStripe = prepareLibrary<Stripe>('stripe', async () => {
    const { default: Library } = await import('stripe');
    return new Library(secretKey, {
      host: hostname,
      port: port === '' ? (secure ? 443 : 80) : Number(port),
      protocol: secure ? 'https' : 'http',
      httpClient: Library.createFetchHttpClient(Object.assign(fetchObject, fetch)),
      timeout: timeoutMs,
      // A waiting client can retry; the queue retries the work that no request waits for.
      maxNetworkRetries: 0,
      telemetry: false,
    });
  });

  /** The intent created before, unless it was cancelled or no longer exists. */
  async function findIntent(reference: string | null): Promise<Intent | undefined> {
    if (reference === null) return undefined;
    try {
      const intent = parseIntent(await (await getStripe()).paymentIntents.retrieve(reference));
      return intent.status === 'canceled' ? undefined : intent;
    } catch (error) {
      if (getErrorCode(error) === 'resource_missing') return undefined;
      throw error;
    }
  }

  return {
    name: 'stripe',
    async open(due, reference) {
      const amount = toStripeAmount(due);
      if (amount === undefined)
        throw new PaymentError(
          'impossible',
          `Stripe cannot charge ${due.total} minor units of ${due.currency}`,
        );
      const currency = due.currency.toLowerCase();
      try {
        const intent =
          (await findIntent(reference)) ??
          parseIntent(
            await (await getStripe()).paymentIntents.create(
              {
                amount,
                currency,
                metadata: { orderId: String(due.orderId) },
                automatic_payment_methods: { enabled: true },
              },
              { idempotencyKey: computeIdempotencyKey(due, reference) },
            ),
          );
        const succeeded =
          intent.status === 'succeeded' && intent.amount_received === amount && intent.currency === currency;
        return { reference: intent.id, clientSecret: succeeded ? null : intent.client_secret, succeeded };
      } catch (error) {
        throw await toPaymentError(error);
      }
    },

    async cancel(reference) {
      const { paymentIntents } = await getStripe();
      try {
        // Without a key: Stripe would repeat for a day that a payment in progress cannot be cancelled.
        return toCancellation(parseIntent(await paymentIntents.cancel(reference)));
      } catch (error) {
        // Paid or cancelled in the meantime.
        if (getErrorCode(error) !== 'payment_intent_unexpected_state') throw toFinalError(error);
        return toCancellation(parseIntent(await paymentIntents.retrieve(reference)));
      }
    },

    async refund(reference) {
      const { refunds } = await getStripe();
      const idempotencyKey = `refund-${reference}`;
      try {
        const made = await refunds.create({ payment_intent: reference }, { idempotencyKey });
        if (!refund.safeParse(made).success) throw createUnintelligibleError('refund');
      } catch (error) {
        if (getErrorCode(error) !== 'charge_already_refunded') throw toFinalError(error);
      }
    },
  };
}

/**
 * Replaces a body that is not a JSON object with an empty one, which the library rejects: given a text or a number, it
 * would wait forever. No redirect is followed: another server must not say that a payment has been made.
 */
async function fetchObject(...[address, init]: Parameters<typeof fetch>): Promise<Response> {
  requireSpareFiles();
  const response = await fetch(address, { ...init, redirect: 'error' });
  const text = await readLimitedText(response, maxResponseLength);
  const { status, headers } = response;
  return new Response(isObject(tryParseJson(text)) ? text : '', { status, headers });
}

/** Stripe's identifier of a payment. A signed event may hold anything, and PostgreSQL stores no U+0000. */
const reference = z.string().regex(/^[!-~]{1,255}$/);

/** The members read from responses: a proxy on the way, or another server, can send 200 with any body. */
const paymentIntent = z.object({
  id: reference,
  status: z.string(),
  amount_received: z.int(),
  currency: z.string(),
  client_secret: z.string().nullable(),
});
type Intent = z.output<typeof paymentIntent>;
const refund = z.object({ id: z.string().min(1), object: z.literal('refund') });

const createUnintelligibleError = (what: string, cause?: unknown) =>
  new PaymentError('unavailable', `the response of Stripe is not a valid ${what}`, cause);

/** @throws PaymentError */
function parseIntent(response: unknown): Intent {
  const read = paymentIntent.safeParse(response);
  if (!read.success) throw createUnintelligibleError('payment intent', read.error);
  return read.data;
}

function toCancellation({ status }: Intent): Cancellation {
  if (status === 'canceled') return 'cancelled';
  return status === 'succeeded' ? 'made' : 'in progress';
}

/** The members read from an event; a signature proves its sender, not its format. */
const paymentSucceeded = z.object({
  data: z.object({ object: z.object({ id: reference, amount_received: z.int(), currency: z.string() }) }),
});

const isEvent = (value: unknown): value is { readonly type: string } =>
  isObject(value) && typeof value.type === 'string';

/** @param secret the secret with which Stripe signs its webhooks */
function createStripeReports(secret: string, clock: Clock): PaymentReports {
  const getLibrary = prepareLibrary('stripe', () => import('stripe'));
  return {
    amountOf: toStripeAmount,
    async read(body, signature) {
      const { default: Library } = await getLibrary();
      let event: unknown;
      try {
        event = await Library.webhooks.constructEventAsync(
          Buffer.from(body),
          signature ?? '',
          secret,
          undefined,
          undefined,
          clock.now(),
        );
      } catch (error) {
        if (error instanceof Library.errors.StripeSignatureVerificationError)
          throw new PaymentError('signature', 'the signature does not verify', error);
        throw error;
      }
      if (!isEvent(event)) throw new PaymentError('malformed', 'the body is not an event');
      if (event.type !== 'payment_intent.succeeded') return undefined;
      const paid = paymentSucceeded.safeParse(event);
      if (!paid.success) throw new PaymentError('malformed', 'the event names no payment', paid.error);
      const { id, amount_received: amount, currency } = paid.data.data.object;
      return { reference: id, amount, currency };
    },
  };
}

/**
 * The key is the same for simultaneous requests and for retries after a lost response. Ids alone would not do: two
 * installations may share an account. A payment opened after a cancelled one gets another key. So does a request an
 * hour later, since Stripe also replays its failures for the same key.
 */
function computeIdempotencyKey(
  { orderId, total, currency, createdAt, at }: Due,
  previous: string | null,
): string {
  const hash = new Bun.CryptoHasher('sha256').update(
    JSON.stringify([orderId, total, currency, createdAt, previous, Math.floor(at / hourMs)]),
  );
  return `order-${orderId}-${hash.digest('hex').slice(0, 24)}`;
}

/** A payment missing at Stripe will never appear: the failure is final. */
function toFinalError(error: unknown): unknown {
  if (getErrorCode(error) !== 'resource_missing') return error;
  return new PermanentFailure('Stripe has no such payment', { cause: error });
}

async function toPaymentError(error: unknown): Promise<PaymentError> {
  if (error instanceof PaymentError) return error;
  const { errors } = (await import('stripe')).default;
  if (error instanceof errors.StripeCardError)
    return new PaymentError('declined', 'Stripe declined the payment', error);
  if (error instanceof errors.StripeInvalidRequestError)
    return new PaymentError('impossible', 'Stripe refused the payment', error);
  if (error instanceof errors.StripeAuthenticationError || error instanceof errors.StripePermissionError)
    return new PaymentError('unavailable', 'Stripe refused STRIPE_SECRET_KEY', error);
  // This includes errors of the library about responses that it cannot read.
  return new PaymentError('unavailable', 'Stripe cannot be reached, or failed to respond', error);
}
