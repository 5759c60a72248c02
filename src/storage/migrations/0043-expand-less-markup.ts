/**
 * Indexes attributes without markup, and no longer the markup that descriptions kept: attributes of tags with a `>`, and
 * scripts and styles with tags in capital letters. Only products with markup are indexed again. A release without this
 * migration still finds and writes them with it.
 */
import type { Migration } from './migration.ts';
import { writeAgain } from './search-again.ts';

const concerned = /<[a-z!/]|&#?[a-z\d]{1,8};/i;

export const lessMarkup: Migration = {
  name: '0043-expand-less-markup',
  prepare: database =>
    writeAgain(
      database,
      text => concerned.test(text),
      document => document.marked ?? document,
    ),
  async up() {},
};
