/** All resources, one line each. */
import type { Consumer } from '../events/dispatcher.ts';
import { causedBy } from '../events/outbox.ts';
import type { Authenticator } from '../http/access.ts';
import type { Endpoint } from '../http/endpoint.ts';
import type { QuotaFactory } from '../http/rate-limit.ts';
import type { Subject } from '../mail/mails.ts';
import { describeError } from '../operations/log.ts';
import { createCircuit } from '../ports/circuit.ts';
import { stripePayments } from '../ports/stripe.ts';
import { openMeteo } from '../ports/weather.ts';
import type { Transaction } from '../storage/database.ts';
import { articleEndpoints } from './articles/endpoints.ts';
import { articleStore } from './articles/store.ts';
import { authEndpoints } from './auth/endpoints.ts';
import { attemptGuard } from './auth/guard.ts';
import { forgottenPasswords, passwordEndpoints } from './auth/password-endpoints.ts';
import { passwordCheck } from './auth/passwords.ts';
import { sessionStore } from './auth/store.ts';
import type { Tokens } from './auth/tokens.ts';
import { commentEndpoints } from './comments/endpoints.ts';
import { commentStore } from './comments/store.ts';
import { eventEndpoints } from './events/endpoints.ts';
import { eventStore } from './events/store.ts';
import { invoiceEndpoints } from './invoices/endpoints.ts';
import { invoiceStore } from './invoices/store.ts';
import { keyEndpoints } from './keys/endpoints.ts';
import { keyStore } from './keys/store.ts';
import { notificationConsumer } from './notifications/consumer.ts';
import { notificationEndpoints } from './notifications/endpoints.ts';
import { notificationStore } from './notifications/store.ts';
import { orderActions } from './orders/actions.ts';
import { orderEndpoints } from './orders/endpoints.ts';
import { paymentConsumer, paymentStore } from './orders/payments.ts';
import { settlement } from './orders/settle.ts';
import { orderStore } from './orders/store.ts';
import { stripeWebhook } from './orders/webhook.ts';
import { postEndpoints } from './posts/endpoints.ts';
import { postStore } from './posts/store.ts';
import { productEndpoints } from './products/endpoints.ts';
import { productStore } from './products/store.ts';
import { reviewEndpoints } from './reviews/endpoints.ts';
import { reviewStore } from './reviews/store.ts';
import { searchEndpoints } from './search/endpoints.ts';
import { searchStore } from './search/store.ts';
import type { Services } from './services.ts';
import { todoEndpoints } from './todos/endpoints.ts';
import { todoStore } from './todos/store.ts';
import { userEndpoints } from './users/endpoints.ts';
import { createLetters } from './users/letters.ts';
import { mailTokens as mailTokenStore } from './users/mail-tokens.ts';
import { userStore } from './users/store.ts';
import { verificationEndpoints } from './users/verification-endpoints.ts';
import { weatherEndpoints } from './weather/endpoints.ts';
import { createObservations } from './weather/observations.ts';

/** In 15 minutes, per account and per address: failed sign-ins, and requests for mail with a link. */
const accountAttempts = 10;
const addressAttempts = 100;
const attemptWindow = 900;

export interface Resources {
  readonly endpoints: Endpoint[];
  readonly authenticator: Authenticator;
  /** What is done after commits: one for each queue of events/subscriptions.ts. */
  readonly consumers: readonly Consumer[];
  /** Takes note that a mail about a resource has gone out. */
  mailSent(session: Transaction, about: Subject): Promise<void>;
}

export function createResources(services: Services, tokens: Tokens, createQuota: QuotaFactory): Resources {
  const { database, clock, config, queue, outbox, mails } = services;
  const users = userStore(database, outbox);
  const products = productStore(database, outbox);
  const posts = postStore(database, outbox);
  const keys = keyStore(database, clock);
  const guardOf = (what: string) =>
    attemptGuard({
      perAccount: createQuota(`${what} account`, accountAttempts, attemptWindow),
      perAddress: createQuota(`${what} address`, addressAttempts, attemptWindow),
    });
  const invoices = invoiceStore(database, outbox, config.INVOICE_SELLER);
  const orders = orderStore(database, outbox);
  const ordering = {
    orders,
    payments: paymentStore(database, queue),
    settle: settlement(orders, invoices.issue),
    ...stripePayments(config, clock),
  };
  const events = eventStore(database);
  const notifications = notificationStore(database);
  const auth = {
    users,
    tokens,
    sessions: sessionStore(database),
    passwords: passwordCheck(),
    guard: guardOf('sign-in'),
  };
  const mailTokens = mailTokenStore(database);
  const reviews = reviewStore(database, outbox);
  const accounts = {
    ...auth,
    reviews,
    mailTokens,
    letters: createLetters(config, mails, mailTokens),
    mailGuard: guardOf('mail'),
  };
  return {
    endpoints: [
      ...authEndpoints(services, auth),
      ...passwordEndpoints(services, accounts),
      ...userEndpoints(services, accounts),
      ...verificationEndpoints(services, accounts),
      ...keyEndpoints(services, keys),
      ...productEndpoints(services, products),
      ...orderEndpoints(services, { orders, products, users }),
      ...orderActions(services, ordering),
      ...stripeWebhook(ordering),
      ...invoiceEndpoints(services, invoices),
      ...reviewEndpoints(services, { reviews, products }),
      ...articleEndpoints(services, articleStore(database, outbox)),
      ...postEndpoints(services, posts),
      ...commentEndpoints(services, { comments: commentStore(database, outbox), posts }),
      ...searchEndpoints(services, searchStore(database)),
      ...todoEndpoints(services, { todos: todoStore(database), users }),
      ...weatherEndpoints(observationsOf(services)),
      ...eventEndpoints(services, events),
      ...notificationEndpoints(services, notifications),
    ],
    consumers: [
      paymentConsumer(database, ordering.provider, clock.now),
      forgottenPasswords(services, accounts),
      notificationConsumer({ events, users, notifications }),
    ],
    async mailSent(session, { resource, resourceId }) {
      if (resource === 'invoice') await invoices.markSent(session, resourceId, causedBy('mail', clock.now()));
    },
    authenticator: { bearer: token => tokens.verifyAccess(token), apiKey: key => keys.authenticate(key) },
  };
}

/** Failures in a row after which the weather provider is left alone, and for how long. */
const weatherFailures = 3;
const weatherPauseMs = 30_000;

function observationsOf({ config, clock, log }: Services) {
  const circuit = createCircuit({
    clock,
    failures: weatherFailures,
    pauseMs: weatherPauseMs,
    onChange(state, reason) {
      if (state === 'closed') log.info('the weather provider answers again');
      else log.warn('the weather provider fails; answers are remembered ones', describeError(reason));
    },
  });
  const provider = openMeteo(config.WEATHER_URL, config.GEOCODING_URL);
  return createObservations({ provider, circuit, clock });
}
