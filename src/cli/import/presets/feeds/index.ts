/** The presets for feeds for Google Merchant Center and catalogs of Meta (Facebook, Instagram), as tables or XML. */
import type { Preset } from '../preset.ts';
import { feed, feedColumns } from './feed.ts';

export const google: Preset = {
  ...feed,
  name: 'google',
  file: 'a feed for Google Merchant Center',
  columns: { ...feedColumns, quantity: ['quantity', 'sell on google quantity'] },
  signs: [
    ['image', 'availability'],
    ['image', 'group'],
    ['googleCategory', 'availability'],
  ],
};

export const meta: Preset = {
  ...feed,
  name: 'meta',
  file: 'a catalog of Meta',
  columns: {
    ...feedColumns,
    quantity: ['quantity_to_sell_on_facebook', 'inventory'],
    status: ['status'],
    visibility: ['visibility'],
    facebookCategory: ['fb_product_category'],
    override: ['override'],
    firstTag: ['product_tags[0]'],
  },
  signs: [
    ['image', 'facebookCategory'],
    ['image', 'quantity'],
    ['image', 'firstTag'],
  ],
  takes: /^(?:product_tags\[\d\d?\]|image\[\d\d?\]\.url)$/i,
};
