/** What resources are made of: the store of each, and what several of them share. Made once, handed on. */
import type { QuotaFactory } from '../http/quota/index.ts';
import { stripePayments } from '../ports/stripe.ts';
import type { Secrets } from '../secrets.ts';
import { articleStore } from './articles/store.ts';
import { passwordProof } from './auth/current-password.ts';
import { endedSessions } from './auth/ended-sessions.ts';
import { createGuards } from './auth/guard.ts';
import { knownAddresses } from './auth/known-addresses.ts';
import { passwordCheck } from './auth/passwords.ts';
import { sessionStore } from './auth/store.ts';
import { createTokens } from './auth/tokens.ts';
import { commentStore } from './comments/store.ts';
import type { Dependencies } from './dependencies.ts';
import { eventStore } from './events/store.ts';
import { invoiceStore } from './invoices/store.ts';
import { keyStore } from './keys/store.ts';
import { notificationStore } from './notifications/store.ts';
import { paymentStore } from './orders/payments.ts';
import { settlement } from './orders/settle.ts';
import { orderStore } from './orders/store.ts';
import { postStore } from './posts/store.ts';
import { productStore } from './products/store.ts';
import { reviewStore } from './reviews/store.ts';
import { searchStore } from './search/store.ts';
import { todoStore } from './todos/store.ts';
import { addressTokens as addressTokenStore } from './users/address-tokens.ts';
import { userAddresses } from './users/addresses.ts';
import { createMailTemplates } from './users/mail-templates.ts';
import { mailTokens as mailTokenStore } from './users/mail-tokens.ts';
import { userStore } from './users/store.ts';
import { createWeather } from './weather/observations.ts';

export function createStores(services: Dependencies, secrets: Secrets, createQuota: QuotaFactory) {
  const { database, clock, config, queue, outbox, mails, delays } = services;
  const known = knownAddresses(database);
  const ended = endedSessions(database);
  const orders = orderStore(database, outbox);
  const invoices = invoiceStore(database, outbox, config.INVOICE_SELLER);
  const mailTokens = mailTokenStore(database);
  const addressTokens = addressTokenStore(database);
  const mailTemplates = createMailTemplates(config, mails, mailTokens, addressTokens);
  const users = userStore(database, outbox, ended);
  const sessions = sessionStore(database, ended);
  const passwords = passwordCheck();
  const guards = createGuards(database, known, delays, clock);
  return {
    tokens: createTokens(secrets, clock, ended),
    ended,
    passwords,
    guards,
    knownAddresses: known,
    proof: passwordProof(guards.currentPassword, passwords),
    addresses: userAddresses({
      users,
      sessions,
      mailTokens,
      addressTokens,
      mailTemplates,
      knownAddresses: known,
    }),
    sessions,
    keys: keyStore(database, clock, outbox),
    users,
    mailTokens,
    addressTokens,
    mailTemplates,
    products: productStore(database, outbox),
    reviews: reviewStore(database, outbox),
    orders,
    payments: paymentStore(database, queue),
    // With a provider it is the customer who confirms a payment.
    payers: config.STRIPE_SECRET_KEY === undefined ? config.PAYMENT_BY_HAND : ('customers' as const),
    unsignedReports: createQuota('unsigned reports', config.RATE_LIMIT, config.RATE_WINDOW),
    settle: settlement(orders, invoices.issue),
    ...stripePayments(config, clock),
    invoices,
    articles: articleStore(database, outbox),
    posts: postStore(database, outbox),
    comments: commentStore(database, outbox),
    todos: todoStore(database),
    weather: createWeather(services),
    search: searchStore(database),
    events: eventStore(database),
    notifications: notificationStore(database),
  };
}
