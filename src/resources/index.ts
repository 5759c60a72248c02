/** All resources, one line each. */
import type { Consumer } from '../events/dispatcher.ts';
import { createCause } from '../events/outbox.ts';
import type { Authenticator } from '../http/access.ts';
import type { Endpoint } from '../http/endpoint.ts';
import type { QuotaFactory } from '../http/quota/index.ts';
import type { Subject } from '../mail/mails.ts';
import type { Secrets } from '../secrets/index.ts';
import type { Transaction } from '../storage/database.ts';
import { createArticleEndpoints } from './articles/endpoints.ts';
import { createAttributeEndpoints } from './attributes/endpoints.ts';
import { createConfirmation } from './auth/credentials.ts';
import { createAuthEndpoints } from './auth/endpoints.ts';
import { createForgottenPasswordConsumer, createPasswordEndpoints } from './auth/password-endpoints.ts';
import { createCategoryEndpoints } from './categories/endpoints.ts';
import { createSearchTextConsumer } from './categories/search-texts.ts';
import { createCommentEndpoints } from './comments/endpoints.ts';
import type { Dependencies } from './dependencies.ts';
import { createEventEndpoints } from './events/endpoints.ts';
import { createImageEndpoints } from './images/endpoints.ts';
import { createInvoiceEndpoints } from './invoices/endpoints.ts';
import { createKeyEndpoints } from './keys/endpoints.ts';
import { createNotificationConsumer } from './notifications/consumer.ts';
import { createNotificationEndpoints } from './notifications/endpoints.ts';
import { createOrderActions } from './orders/actions.ts';
import { createOrderEndpoints } from './orders/endpoints.ts';
import { createPaymentConsumer } from './orders/payments.ts';
import { createStripeWebhook } from './orders/webhook.ts';
import { createPostEndpoints } from './posts/endpoints.ts';
import { createProductEndpoints } from './products/endpoints.ts';
import { createReviewEndpoints } from './reviews/endpoints.ts';
import { createSearchEndpoints } from './search/endpoints.ts';
import { createStockEndpoints } from './stock/endpoints.ts';
import { createStores } from './stores.ts';
import { createSynonymEndpoints } from './synonyms/endpoints.ts';
import { createTodoEndpoints } from './todos/endpoints.ts';
import { createDeletionEndpoints } from './users/deletion-endpoints.ts';
import { createUserEndpoints } from './users/endpoints.ts';
import { createVerificationEndpoints } from './users/verification-endpoints.ts';
import { createVariantEndpoints } from './variants/endpoints.ts';
import { createWeatherEndpoints } from './weather/endpoints.ts';

export interface Resources {
  readonly endpoints: Endpoint[];
  readonly authenticator: Authenticator;
  /** The consumers that work after commits: one for each queue of events/subscriptions.ts. */
  readonly consumers: readonly Consumer[];
  /** Records that a mail about a resource was sent. */
  mailSent(session: Transaction, about: Subject): Promise<void>;
  /** Each deletes expired rows of one kind, all or some of them, and returns how many: see `removeInParts`. */
  readonly sweeps: Readonly<Record<string, () => Promise<number>>>;
  /** Resolves once everything that requests left to be written in the background has been written. */
  written(): Promise<void>;
}

export function createResources(
  dependencies: Dependencies,
  secrets: Secrets,
  createQuota: QuotaFactory,
): Resources {
  const stores = createStores(dependencies, secrets, createQuota);
  const { database, clock } = dependencies;
  const { keys, invoices } = stores;
  const sweepOf = (store: { sweep(session: Transaction, now: number): Promise<number> }) => () =>
    database.write(session => store.sweep(session, clock.now()));
  return {
    endpoints: [
      ...createAuthEndpoints(stores),
      ...createPasswordEndpoints(stores),
      ...createUserEndpoints(stores),
      ...createDeletionEndpoints(stores),
      ...createVerificationEndpoints(stores),
      ...createKeyEndpoints(stores),
      ...createProductEndpoints(stores),
      ...createVariantEndpoints(stores),
      ...createAttributeEndpoints(stores),
      ...createCategoryEndpoints(stores),
      ...createStockEndpoints(stores),
      ...createImageEndpoints(stores),
      ...createOrderEndpoints(stores),
      ...createOrderActions(stores),
      ...createStripeWebhook(stores),
      ...createInvoiceEndpoints(stores),
      ...createReviewEndpoints(stores),
      ...createArticleEndpoints(stores),
      ...createPostEndpoints(stores),
      ...createCommentEndpoints(stores),
      ...createSearchEndpoints(stores),
      ...createSynonymEndpoints(stores),
      ...createTodoEndpoints(stores),
      ...createWeatherEndpoints(stores),
      ...createEventEndpoints(stores),
      ...createNotificationEndpoints(stores),
    ],
    consumers: [
      stores.timeouts.consumer,
      createPaymentConsumer(stores),
      createForgottenPasswordConsumer(stores),
      createNotificationConsumer(stores),
      createSearchTextConsumer(stores),
    ],
    async mailSent(session, { resource, resourceId }) {
      if (resource === 'invoice')
        await invoices.markSent(session, resourceId, createCause('mail', clock.now()));
    },
    sweeps: {
      sessions: sweepOf(stores.sessions),
      sessionsSetBack: sweepOf({ sweep: stores.sessions.setBack }),
      ended: sweepOf(stores.ended),
      places: sweepOf(stores.knownAddresses),
      tokens: sweepOf(stores.mailTokens),
      addresses: sweepOf(stores.addressTokens),
      orders: () => stores.timeouts.sweep(),
      images: () => stores.imageFiles.sweep(clock.now()),
    },
    written: () => keys.noted(),
    authenticator: {
      bearer: token => stores.tokens.verifyAccess(token),
      apiKey: key => keys.authenticate(key),
      confirm: createConfirmation(database, clock),
    },
  };
}
