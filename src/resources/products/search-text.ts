/** What is searched of a product. */
import type { SearchText } from '../../storage/search/words.ts';
import type { ProductFields } from './schema.ts';

export function searchTextOf({
  name,
  description,
  category,
  tags,
  sku,
}: Pick<ProductFields, 'name' | 'description' | 'category' | 'tags' | 'sku'>): SearchText {
  const parts = [description, category, tags.join(', '), sku];
  return { title: name, body: parts.filter(part => part !== null && part !== '').join(' · ') };
}
