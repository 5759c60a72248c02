/** All migrations, oldest first. A migration that has been released is never changed: add another. */

import { accounts } from './0001-accounts.ts';
import { products } from './0002-products.ts';
import { reviews } from './0003-reviews.ts';
import { events } from './0004-events.ts';
import { orders } from './0005-orders.ts';
import { content } from './0006-content.ts';
import { search } from './0007-search.ts';
import { todos } from './0008-todos.ts';
import { searchPeople } from './0009-search-people.ts';
import { keyLimits } from './0010-key-limits.ts';
import { productTags } from './0011-product-tags.ts';
import { eventsInOrder } from './0012-events-in-order.ts';
import { randomVersions } from './0013-random-versions.ts';
import { knownAddresses } from './0014-known-addresses.ts';
import { addresses } from './0015-addresses.ts';
import { failedAttempts } from './0016-failed-attempts.ts';
import { endedSessions } from './0017-ended-sessions.ts';
import { eventMarks } from './0018-expand-event-marks.ts';
import { attributes } from './0019-expand-attributes.ts';
import { categories } from './0020-expand-categories.ts';
import { productDetails } from './0021-product-details.ts';
import { stock } from './0022-stock.ts';
import { searchWords } from './0023-expand-search-words.ts';
import { productAttributes } from './0024-product-attributes.ts';
import { variants } from './0025-expand-variants.ts';
import { media } from './0026-expand-media.ts';
import { categoriesOfProducts } from './0027-categories-of-products.ts';
import { synonyms } from './0028-expand-synonyms.ts';
import { setChecks } from './0029-expand-set-checks.ts';
import { categoryImages } from './0030-expand-category-images.ts';
import { shortDocuments } from './0031-short-documents.ts';
import { fewerIndexes } from './0032-expand-fewer-indexes.ts';
import { partsOfWords } from './0033-expand-parts-of-words.ts';
import { inches } from './0034-expand-inches.ts';
import { commentsByCreatedAt } from './0035-expand-comments-by-created-at.ts';
import { exactPrices } from './0036-expand-exact-prices.ts';
import { optionsAsAttributes } from './0037-options-as-attributes.ts';
import { unspacedScripts } from './0038-expand-unspaced-scripts.ts';
import { deliveriesByAge } from './0039-expand-deliveries-by-age.ts';
import { keysByCreator } from './0040-expand-keys-by-creator.ts';
import { administrators } from './0041-expand-administrators.ts';
import { ownPrices } from './0042-own-prices.ts';
import { lessMarkup } from './0043-expand-less-markup.ts';
import { decimals } from './0044-expand-decimals.ts';
import { fewerSpellings } from './0045-expand-fewer-spellings.ts';
import { longTexts } from './0046-expand-long-texts.ts';
import type { Migration } from './migration.ts';

export const migrations: readonly Migration[] = [
  accounts,
  products,
  reviews,
  events,
  orders,
  content,
  search,
  todos,
  searchPeople,
  keyLimits,
  productTags,
  eventsInOrder,
  randomVersions,
  knownAddresses,
  addresses,
  failedAttempts,
  endedSessions,
  eventMarks,
  attributes,
  categories,
  productDetails,
  stock,
  searchWords,
  productAttributes,
  variants,
  media,
  categoriesOfProducts,
  synonyms,
  setChecks,
  categoryImages,
  shortDocuments,
  fewerIndexes,
  partsOfWords,
  inches,
  commentsByCreatedAt,
  exactPrices,
  optionsAsAttributes,
  unspacedScripts,
  deliveriesByAge,
  keysByCreator,
  administrators,
  ownPrices,
  lessMarkup,
  decimals,
  fewerSpellings,
  longTexts,
];
