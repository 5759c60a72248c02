/** All resources, one line each. */
import type { Consumer } from '../events/dispatcher.ts';
import { causedBy } from '../events/outbox.ts';
import type { Authenticator } from '../http/access.ts';
import type { Endpoint } from '../http/endpoint.ts';
import type { QuotaFactory } from '../http/rate-limit.ts';
import type { Subject } from '../mail/mails.ts';
import type { Transaction } from '../storage/database.ts';
import { articleEndpoints } from './articles/endpoints.ts';
import { confirmation } from './auth/credentials.ts';
import { authEndpoints } from './auth/endpoints.ts';
import { forgottenPasswords, passwordEndpoints } from './auth/password-endpoints.ts';
import type { Tokens } from './auth/tokens.ts';
import { commentEndpoints } from './comments/endpoints.ts';
import { eventEndpoints } from './events/endpoints.ts';
import { invoiceEndpoints } from './invoices/endpoints.ts';
import { keyEndpoints } from './keys/endpoints.ts';
import { notificationConsumer } from './notifications/consumer.ts';
import { notificationEndpoints } from './notifications/endpoints.ts';
import { orderActions } from './orders/actions.ts';
import { orderEndpoints } from './orders/endpoints.ts';
import { paymentConsumer } from './orders/payments.ts';
import { stripeWebhook } from './orders/webhook.ts';
import { createParts } from './parts.ts';
import { postEndpoints } from './posts/endpoints.ts';
import { productEndpoints } from './products/endpoints.ts';
import { reviewEndpoints } from './reviews/endpoints.ts';
import { searchEndpoints } from './search/endpoints.ts';
import type { Services } from './services.ts';
import { todoEndpoints } from './todos/endpoints.ts';
import { userEndpoints } from './users/endpoints.ts';
import { verificationEndpoints } from './users/verification-endpoints.ts';
import { weatherEndpoints } from './weather/endpoints.ts';

export interface Resources {
  readonly endpoints: Endpoint[];
  readonly authenticator: Authenticator;
  /** What is done after commits: one for each queue of events/subscriptions.ts. */
  readonly consumers: readonly Consumer[];
  /** Takes note that a mail about a resource has gone out. */
  mailSent(session: Transaction, about: Subject): Promise<void>;
}

export function createResources(services: Services, tokens: Tokens, createQuota: QuotaFactory): Resources {
  const parts = createParts(services, tokens, createQuota);
  const { database, clock } = services;
  const { keys, invoices } = parts;
  return {
    endpoints: [
      ...authEndpoints(services, parts),
      ...passwordEndpoints(services, parts),
      ...userEndpoints(services, parts),
      ...verificationEndpoints(services, parts),
      ...keyEndpoints(services, parts),
      ...productEndpoints(services, parts),
      ...orderEndpoints(services, parts),
      ...orderActions(services, parts),
      ...stripeWebhook(parts),
      ...invoiceEndpoints(services, parts),
      ...reviewEndpoints(services, parts),
      ...articleEndpoints(services, parts.articles),
      ...postEndpoints(services, parts),
      ...commentEndpoints(services, parts),
      ...searchEndpoints(services, parts.search),
      ...todoEndpoints(services, parts),
      ...weatherEndpoints(parts.weather),
      ...eventEndpoints(services, parts.events),
      ...notificationEndpoints(services, parts.notifications),
    ],
    consumers: [
      paymentConsumer(database, parts.provider, clock.now),
      forgottenPasswords(services, parts),
      notificationConsumer(parts),
    ],
    async mailSent(session, { resource, resourceId }) {
      if (resource === 'invoice') await invoices.markSent(session, resourceId, causedBy('mail', clock.now()));
    },
    authenticator: {
      bearer: token => tokens.verifyAccess(token),
      apiKey: key => keys.authenticate(key),
      confirm: confirmation(database, clock),
    },
  };
}
