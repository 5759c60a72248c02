/** Creates the store of each resource, and what several resources share, once. */
import type { QuotaFactory } from '../http/quota/index.ts';
import { createStripePayments } from '../ports/stripe.ts';
import type { Secrets } from '../secrets/index.ts';
import { createColumns } from '../storage/columns/index.ts';
import { createStems } from '../storage/search/text/stems.ts';
import { createArticleStore } from './articles/store.ts';
import { createProductFacets } from './attributes/facets.ts';
import { createDefinitionStore } from './attributes/store.ts';
import { createEndedSessions } from './auth/ended-sessions.ts';
import { createGuards, createPasswordProof } from './auth/guard.ts';
import { createKnownAddresses } from './auth/known-addresses.ts';
import { createPasswordCheck } from './auth/passwords.ts';
import { createSessionStore } from './auth/store.ts';
import { createTokens } from './auth/tokens.ts';
import { createCategoryStore } from './categories/store.ts';
import { createCommentStore } from './comments/store.ts';
import type { Dependencies } from './dependencies.ts';
import { createEventStore } from './events/store.ts';
import { createImageFiles } from './images/files.ts';
import { createImageStore } from './images/store.ts';
import { createInvoiceStore } from './invoices/store.ts';
import { createKeyStore } from './keys/store.ts';
import { createNotificationStore } from './notifications/store.ts';
import { createPaymentStore } from './orders/payments.ts';
import { createStockReservations } from './orders/reservations.ts';
import { createCancel, createCompletePayment } from './orders/settle.ts';
import { createOrderStore } from './orders/store.ts';
import { createOrderTimeouts } from './orders/timeouts.ts';
import { createPostStore } from './posts/store.ts';
import { products as productCollection } from './products/row.ts';
import { createProductStore } from './products/store.ts';
import { createReviewStore } from './reviews/store.ts';
import { createProductReader } from './search/reader.ts';
import { createSearchStore } from './search/store.ts';
import { createSuggester } from './search/suggest.ts';
import { createStockLocks } from './stock/locked.ts';
import { createAdjustmentStore } from './stock/store.ts';
import { createSynonymStore } from './synonyms/store.ts';
import { createTodoStore } from './todos/store.ts';
import { createUserAddresses } from './users/addresses.ts';
import { createMailTemplates } from './users/mail-templates.ts';
import { createAddressTokens, createMailTokens } from './users/mail-tokens.ts';
import { createUserStore } from './users/store.ts';
import { createVariantStore } from './variants/store.ts';
import { createWeather } from './weather/observations.ts';

/** Sales: products and their stock, orders, payments and invoices. */
function createSales({ database, clock, config, queue, outbox }: Dependencies) {
  const stripe = createStripePayments(config, clock);
  const orders = createOrderStore(database, outbox);
  const payments = createPaymentStore(database, queue);
  const columns = createColumns(database, productCollection);
  const products = createProductStore(database, outbox, columns);
  const variants = createVariantStore(database, outbox, products);
  const stock = createStockLocks(database, outbox, products, variants);
  const reservations = createStockReservations(database, stock);
  const cancel = createCancel(orders, payments, reservations);
  const invoices = createInvoiceStore(database, outbox, {
    seller: config.INVOICE_SELLER,
    timeZone: config.INVOICE_TIME_ZONE,
  });
  const completePayment = createCompletePayment(orders, reservations, invoices);
  const { provider } = stripe;
  return {
    columns,
    facets: createProductFacets(database, columns),
    products,
    variants,
    stock,
    adjustments: createAdjustmentStore(database),
    orders,
    payments,
    reservations,
    cancel,
    completePayment,
    timeouts: createOrderTimeouts(
      { database, clock, queue, orders, payments, provider, cancel, completePayment },
      config.ORDER_TIMEOUT,
    ),
    ...stripe,
    // With a provider, the customer confirms a payment.
    payers: config.STRIPE_SECRET_KEY === undefined ? config.PAYMENT_BY_HAND : ('customers' as const),
    invoices,
  };
}

/** What accounts and their credentials need. */
function createAccounts(dependencies: Dependencies, secrets: Secrets) {
  const { database, clock, config, outbox, mails, delays, port } = dependencies;
  const knownAddresses = createKnownAddresses(database);
  const ended = createEndedSessions(database);
  const mailTokens = createMailTokens(database);
  const addressTokens = createAddressTokens(database);
  const mailTemplates = createMailTemplates(config, port, mails, mailTokens, addressTokens);
  const users = createUserStore(database, outbox, ended);
  const sessions = createSessionStore(database, ended);
  const passwords = createPasswordCheck();
  const guards = createGuards(database, knownAddresses, delays, clock);
  const mailed = { mailTokens, addressTokens, mailTemplates };
  return {
    tokens: createTokens(secrets, clock, ended),
    ended,
    passwords,
    guards,
    knownAddresses,
    proof: createPasswordProof(guards.currentPassword, passwords),
    addresses: createUserAddresses({ users, sessions, knownAddresses, ...mailed }),
    sessions,
    keys: createKeyStore(database, clock, outbox),
    users,
    ...mailed,
  };
}

/** The stores with what they depend on. Each function that makes endpoints names those that it needs. */
export type Stores = ReturnType<typeof createStores>;

export function createStores(dependencies: Dependencies, secrets: Secrets, createQuota: QuotaFactory) {
  const { database, config, outbox } = dependencies;
  const definitions = createDefinitionStore(database, outbox);
  const images = createImageStore(database);
  const sales = createSales(dependencies);
  const stems = createStems(config.SEARCH_LANGUAGES);
  const synonyms = createSynonymStore(database, outbox, stems);
  const reader = createProductReader(database);
  const search = createSearchStore(database, sales.columns, stems, { synonyms, definitions }, reader);
  return {
    ...dependencies,
    ...createAccounts(dependencies, secrets),
    ...sales,
    definitions,
    categories: createCategoryStore(database, outbox, dependencies.queue, definitions),
    images,
    imageFiles: createImageFiles(database, dependencies.media, images),
    reviews: createReviewStore(database, outbox),
    /** Charged for reports of payments without a valid signature, in place of the general quota. */
    unsignedReports: createQuota('unsigned reports', config.RATE_LIMIT, config.RATE_WINDOW),
    articles: createArticleStore(database, outbox),
    posts: createPostStore(database, outbox),
    comments: createCommentStore(database, outbox),
    todos: createTodoStore(database),
    weather: createWeather(dependencies),
    synonyms,
    search,
    suggest: createSuggester(database, search, reader, stems, synonyms),
    events: createEventStore(database),
    notifications: createNotificationStore(database),
  };
}
