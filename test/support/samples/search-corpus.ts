/** A small catalog to search in, and queries that find its products. */
import { addProduct } from '../data/catalog.ts';
import { call } from '../http/http.ts';
import { startTestService, type TestService } from '../service/service.ts';

export const corpus = [
  { name: 'Walnut desk lamp', description: 'A dimmable light with a solid foot.', sku: 'LAMP-0001' },
  { name: 'Oak shelf', description: 'Holds books, or a lamp.', category: 'storage', tags: ['wood'] },
  { name: 'Lampshade', description: 'Linen, 40 cm.' },
  { name: 'Café table', description: 'Round, for two.', tags: ['Möbel'] },
  { name: 'Coffee mug', description: 'For the cafe at home. Holds 300 ml & more <hot>.' },
  { name: 'Straßenkarte', description: 'A street map of Ærø and Łódź.' },
  { name: 'Archived clock', description: 'Ticks loudly.', status: 'archived' },
  { name: 'O’Brien’s "special" glue', description: 'Bonds NEAR anything AND everything: (almost)*' },
  { name: '東京タワー', description: 'Ein Modell, いぬ.' },
  { name: 'Копилка', description: 'Свинья из фарфора.' },
  { name: 'Ring binder', description: 'The lamps catalogue fits in.' },
  { name: 'Glass bottle', description: 'Made of glass. A glass bottle holds 500 ml.', tags: ['kitchen'] },
] as const;

export const namesOf = (body: { data: { title: string }[] }) => body.data.map(({ title }) => title);
export const search = (
  service: TestService,
  query: string,
  more = '',
  as: 'user' | 'editor' | 'admin' = 'user',
) => call(service, { path: `/v1/search?q=${encodeURIComponent(query)}${more}`, as });

export async function withCorpus(kind: 'sqlite' | 'postgresql') {
  const service = await startTestService(kind);
  for (const product of corpus) await addProduct(service, product);
  return service;
}
