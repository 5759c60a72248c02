/** What resources are made of: the store of each, and what several of them share. Made once, handed on. */
import type { QuotaFactory } from '../http/quota/index.ts';
import { stripePayments } from '../ports/stripe.ts';
import type { Secrets } from '../secrets/index.ts';
import { columnsOf } from '../storage/columns/index.ts';
import { stemsOf } from '../storage/search/text/stems.ts';
import { articleStore } from './articles/store.ts';
import { productFacets } from './attributes/facets.ts';
import { definitionStore } from './attributes/store.ts';
import { passwordProof } from './auth/current-password.ts';
import { endedSessions } from './auth/ended-sessions.ts';
import { createGuards } from './auth/guard.ts';
import { knownAddresses } from './auth/known-addresses.ts';
import { passwordCheck } from './auth/passwords.ts';
import { sessionStore } from './auth/store.ts';
import { createTokens } from './auth/tokens.ts';
import { categoryStore } from './categories/store.ts';
import { commentStore } from './comments/store.ts';
import type { Dependencies } from './dependencies.ts';
import { eventStore } from './events/store.ts';
import { imageFiles } from './images/files.ts';
import { imageStore } from './images/store.ts';
import { invoiceStore } from './invoices/store.ts';
import { keyStore } from './keys/store.ts';
import { notificationStore } from './notifications/store.ts';
import { paymentStore } from './orders/payments.ts';
import { stockReservations } from './orders/reservations.ts';
import { cancellation, settlement } from './orders/settle.ts';
import { orderStore } from './orders/store.ts';
import { orderTimeouts } from './orders/timeouts.ts';
import { postStore } from './posts/store.ts';
import { products as productCollection } from './products/row.ts';
import { productStore } from './products/store.ts';
import { reviewStore } from './reviews/store.ts';
import { productReader } from './search/reader.ts';
import { searchStore } from './search/store.ts';
import { suggester } from './search/suggest.ts';
import { stockLocks } from './stock/locked.ts';
import { adjustmentStore } from './stock/store.ts';
import { synonymStore } from './synonyms/store.ts';
import { todoStore } from './todos/store.ts';
import { addressTokens as addressTokenStore } from './users/address-tokens.ts';
import { userAddresses } from './users/addresses.ts';
import { createMailTemplates } from './users/mail-templates.ts';
import { mailTokens as mailTokenStore } from './users/mail-tokens.ts';
import { userStore } from './users/store.ts';
import { variantStore } from './variants/store.ts';
import { createWeather } from './weather/observations.ts';

/** What is sold: products and their stock, orders, payments and invoices. */
function createSales({ database, clock, config, queue, outbox }: Dependencies) {
  const stripe = stripePayments(config, clock);
  const orders = orderStore(database, outbox);
  const payments = paymentStore(database, queue);
  const columns = columnsOf(database, productCollection);
  const products = productStore(database, outbox, columns);
  const variants = variantStore(database, outbox, products);
  const stock = stockLocks(database, outbox, products, variants);
  const reservations = stockReservations(database, variants, stock);
  const cancel = cancellation(orders, payments, reservations);
  const invoices = invoiceStore(database, outbox, config.INVOICE_SELLER);
  return {
    columns,
    facets: productFacets(database, columns),
    products,
    variants,
    stock,
    adjustments: adjustmentStore(database),
    orders,
    payments,
    reservations,
    cancel,
    settle: settlement(orders, reservations, invoices.issue),
    timeouts: orderTimeouts(
      { database, clock, queue, orders, payments, provider: stripe.provider, cancel },
      config.ORDER_TIMEOUT,
    ),
    ...stripe,
    // With a provider it is the customer who confirms a payment.
    payers: config.STRIPE_SECRET_KEY === undefined ? config.PAYMENT_BY_HAND : ('customers' as const),
    invoices,
  };
}

export function createStores(services: Dependencies, secrets: Secrets, createQuota: QuotaFactory) {
  const { database, clock, config, outbox, mails, delays } = services;
  const known = knownAddresses(database);
  const definitions = definitionStore(database, outbox);
  const ended = endedSessions(database);
  const mailTokens = mailTokenStore(database);
  const addressTokens = addressTokenStore(database);
  const mailTemplates = createMailTemplates(config, mails, mailTokens, addressTokens);
  const users = userStore(database, outbox, ended);
  const sessions = sessionStore(database, ended);
  const passwords = passwordCheck();
  const images = imageStore(database);
  const guards = createGuards(database, known, delays, clock);
  const sales = createSales(services);
  const synonyms = synonymStore(database, outbox);
  const reader = productReader(database);
  const stems = stemsOf(config.SEARCH_LANGUAGES);
  const search = searchStore(database, sales.columns, stems, synonyms, reader);
  return {
    ...sales,
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
    definitions,
    categories: categoryStore(database, outbox, services.queue, definitions),
    images,
    imageFiles: imageFiles(database, services.media, images),
    reviews: reviewStore(database, outbox),
    unsignedReports: createQuota('unsigned reports', config.RATE_LIMIT, config.RATE_WINDOW),
    articles: articleStore(database, outbox),
    posts: postStore(database, outbox),
    comments: commentStore(database, outbox),
    todos: todoStore(database),
    weather: createWeather(services),
    synonyms,
    search,
    suggest: suggester(database, search, reader, stems, synonyms),
    events: eventStore(database),
    notifications: notificationStore(database),
  };
}
