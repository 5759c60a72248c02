/** The preset for catalogs of Meta (Facebook, Instagram), as tables or XML. */

import type { Preset } from '../preset.ts';
import {
  draftFeedProduct,
  feedColumns,
  feedMembers,
  getFeedPlacement,
  places,
  repeatedColumns,
} from './feed.ts';

export const meta: Preset = {
  name: 'meta',
  file: 'a catalog of Meta',
  columns: {
    ...feedColumns,
    quantity: ['quantity_to_sell_on_facebook', 'inventory'],
    status: ['status'],
    visibility: ['visibility'],
    facebookCategory: ['fb_product_category'],
    firstTag: ['product_tags[0]'],
  },
  members: feedMembers,
  required: ['id', 'title', 'price'],
  signs: [
    ['image', 'facebookCategory'],
    ['image', 'quantity'],
    ['image', 'firstTag'],
  ],
  takes: /^(?:product_tags\[\d\d?\]|image\[\d\d?\]\.url)$/i,
  isFeed: true,
  repeated: repeatedColumns,
  places,
  place: getFeedPlacement,
  draft: draftFeedProduct,
};
