/** All resources, one line each. */
import type { Consumer } from '../events/dispatcher.ts';
import { causedBy } from '../events/outbox.ts';
import type { Authenticator } from '../http/access.ts';
import type { Endpoint } from '../http/endpoint.ts';
import type { QuotaFactory } from '../http/quota/index.ts';
import type { Subject } from '../mail/mails.ts';
import type { Secrets } from '../secrets/index.ts';
import type { Transaction } from '../storage/database.ts';
import { articleEndpoints } from './articles/endpoints.ts';
import { attributeEndpoints } from './attributes/endpoints.ts';
import { confirmation } from './auth/credentials.ts';
import { authEndpoints } from './auth/endpoints.ts';
import { forgottenPasswords, passwordEndpoints } from './auth/password-endpoints.ts';
import { categoryEndpoints } from './categories/endpoints.ts';
import { searchTextConsumer } from './categories/search-texts.ts';
import { commentEndpoints } from './comments/endpoints.ts';
import type { Dependencies } from './dependencies.ts';
import { eventEndpoints } from './events/endpoints.ts';
import { imageEndpoints } from './images/endpoints.ts';
import { invoiceEndpoints } from './invoices/endpoints.ts';
import { keyEndpoints } from './keys/endpoints.ts';
import { notificationConsumer } from './notifications/consumer.ts';
import { notificationEndpoints } from './notifications/endpoints.ts';
import { orderActions } from './orders/actions.ts';
import { orderEndpoints } from './orders/endpoints.ts';
import { paymentConsumer } from './orders/payments.ts';
import { stripeWebhook } from './orders/webhook.ts';
import { postEndpoints } from './posts/endpoints.ts';
import { productEndpoints } from './products/endpoints.ts';
import { reviewEndpoints } from './reviews/endpoints.ts';
import { searchEndpoints } from './search/endpoints.ts';
import { stockEndpoints } from './stock/endpoints.ts';
import { createStores } from './stores.ts';
import { synonymEndpoints } from './synonyms/endpoints.ts';
import { todoEndpoints } from './todos/endpoints.ts';
import { userEndpoints } from './users/endpoints.ts';
import { verificationEndpoints } from './users/verification-endpoints.ts';
import { variantEndpoints } from './variants/endpoints.ts';
import { weatherEndpoints } from './weather/endpoints.ts';

export interface Resources {
  readonly endpoints: Endpoint[];
  readonly authenticator: Authenticator;
  /** What is done after commits: one for each queue of events/subscriptions.ts. */
  readonly consumers: readonly Consumer[];
  /** Takes note that a mail about a resource has gone out. */
  mailSent(session: Transaction, about: Subject): Promise<void>;
  /** Forgets what has expired; gives how much of each kind there was. */
  sweep(): Promise<Record<string, number>>;
  /** Resolves when what requests have left to be written, without waiting for it, has been. */
  written(): Promise<void>;
}

export function createResources(
  services: Dependencies,
  secrets: Secrets,
  createQuota: QuotaFactory,
): Resources {
  const stores = createStores(services, secrets, createQuota);
  const { database, clock } = services;
  const { keys, invoices } = stores;
  const expiring = {
    sessions: stores.sessions,
    ended: stores.ended,
    places: stores.knownAddresses,
    tokens: stores.mailTokens,
    addresses: stores.addressTokens,
  };
  return {
    endpoints: [
      ...authEndpoints(services, stores),
      ...passwordEndpoints(services, stores),
      ...userEndpoints(services, stores),
      ...verificationEndpoints(services, stores),
      ...keyEndpoints(services, stores),
      ...productEndpoints(services, stores),
      ...variantEndpoints(services, stores),
      ...attributeEndpoints(services, stores),
      ...categoryEndpoints(services, stores),
      ...stockEndpoints(services, stores),
      ...imageEndpoints(services, stores),
      ...orderEndpoints(services, stores),
      ...orderActions(services, stores),
      ...stripeWebhook(stores),
      ...invoiceEndpoints(services, stores),
      ...reviewEndpoints(services, stores),
      ...articleEndpoints(services, stores.articles),
      ...postEndpoints(services, stores),
      ...commentEndpoints(services, stores),
      ...searchEndpoints(services, stores),
      ...synonymEndpoints(services, stores),
      ...todoEndpoints(services, stores),
      ...weatherEndpoints(stores.weather),
      ...eventEndpoints(services, stores.events),
      ...notificationEndpoints(services, stores.notifications),
    ],
    consumers: [
      stores.timeouts.consumer,
      paymentConsumer(database, stores.provider, clock.now),
      forgottenPasswords(services, stores),
      notificationConsumer(stores),
      searchTextConsumer(services, stores),
    ],
    async mailSent(session, { resource, resourceId }) {
      if (resource === 'invoice') await invoices.markSent(session, resourceId, causedBy('mail', clock.now()));
    },
    async sweep() {
      const forgotten: Record<string, number> = {};
      for (const [name, store] of Object.entries(expiring)) {
        forgotten[name] = await database.write(session => store.sweep(session, clock.now()));
      }
      forgotten.orders = await stores.timeouts.sweep();
      forgotten.images = await stores.imageFiles.sweep(clock.now());
      return forgotten;
    },
    written: () => keys.noted(),
    authenticator: {
      bearer: token => stores.tokens.verifyAccess(token),
      apiKey: key => keys.authenticate(key),
      confirm: confirmation(database, clock),
    },
  };
}
