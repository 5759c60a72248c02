/** The preset for feeds for Google Merchant Center, as tables or XML. */

import type { Preset } from '../preset.ts';
import {
  draftFeedProduct,
  feedColumns,
  feedMembers,
  getFeedPlacement,
  places,
  repeatedColumns,
} from './feed.ts';

export const google: Preset = {
  name: 'google',
  file: 'a feed for Google Merchant Center',
  columns: { ...feedColumns, quantity: ['quantity', 'sell on google quantity'] },
  members: feedMembers,
  required: ['id', 'title', 'price'],
  signs: [
    ['image', 'availability'],
    ['image', 'group'],
    ['googleCategory', 'availability'],
  ],
  isFeed: true,
  repeated: repeatedColumns,
  places,
  place: getFeedPlacement,
  draft: draftFeedProduct,
};
