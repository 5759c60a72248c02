/** Products, the categories that they are in, and the attributes that these require. */
import { patch, post, sent } from '../../support/areas/area.ts';
import { type Area, change, drop, type World } from './world.ts';

const create = (path: string, body: (world: World) => object) => (world: World) => post(path, body(world));
const several = (update: (world: World) => object) => (world: World) =>
  patch('/v1/products', { ids: [world.id('lamp'), world.id('desk')], update: update(world) });

export const places: Area = {
  async build({ name, add, id }) {
    // Positions count within a parent, so each world has its own root.
    await add('root', '/v1/categories', { name });
    await add('A', '/v1/categories', { name: 'A', parentId: id('root') });
    await add('sub', '/v1/categories', { name: 'Sub', parentId: id('A') });
    await add('B', '/v1/categories', { name: 'B', parentId: id('root') });
    await add('colour', '/v1/attributes', { key: `${name}c`, type: 'text', facet: true });
    const fields = { price: 10, tags: [name], brand: `${name}brand` };
    await add('lamp', '/v1/products', {
      ...{ ...fields, name: `${name} ${name}lamp`, sku: `${name}-1`, category: `${name} > A > Sub` },
      ...{ attributes: { [`${name}c`]: 'red' }, stock: { onHand: 5 } },
    });
    await add('desk', '/v1/products', {
      ...{ ...fields, name: `${name} desk`, category: `${name} > A`, status: 'archived' },
    });
    await add('synonym', '/v1/search/synonyms', { words: [`${name}lamp`, `${name}lantern`] });
  },
  operations: {
    createInB: create('/v1/products', ({ name }) => ({
      ...{ name: `${name} new`, price: 5, category: `${name} > B`, tags: [name], sku: `${name}-n` },
      ...{ externalId: `${name}-x`, attributes: { [`${name}c`]: 'blue' } },
    })),
    createInC: create('/v1/products', ({ name }) => ({
      ...{
        name: `${name} other`,
        price: 6,
        category: `${name} > C > D`,
        tags: [name],
        categories: [`${name} > B`],
      },
    })),
    replace: ({ at, name }) => sent('PUT', at('lamp'), { name: `${name} lamp two`, price: 11, tags: [name] }),
    price: change('lamp', () => ({ price: 7 })),
    intoB: change('lamp', ({ name }) => ({ category: `${name} > B` })),
    intoNew: change('lamp', ({ name }) => ({ category: `${name} > A > New`, categories: [`${name} > B`] })),
    deskIntoC: change('desk', ({ name }) => ({ category: `${name} > C` })),
    sku: change('desk', ({ name }) => ({ sku: `${name}-n`, externalId: `${name}-x` })),
    tag: ({ at, name }) => ({
      ...patch(at('lamp'), [
        { op: 'test', path: '/price', value: 10 },
        { op: 'add', path: '/tags/-', value: `${name}t` },
      ]),
      headers: { 'Content-Type': 'application/json-patch+json' },
    }),
    attributes: change('lamp', ({ name }) => ({ attributes: { [`${name}c`]: 'green', [`${name}n`]: '5' } })),
    severalPrices: several(() => ({ price: 3 })),
    severalIntoB: several(({ name }) => ({ category: `${name} > B` })),
    archive: change('lamp', () => ({ status: 'archived' })),
    restore: change('desk', () => ({ status: 'active' })),
    removeLamp: drop('lamp'),
    removeDesk: drop('desk'),
    categoryC: create('/v1/categories', ({ id }) => ({ name: 'C', parentId: id('root') })),
    belowB: create('/v1/categories', ({ id }) => ({ name: 'Deep', parentId: id('B') })),
    renameA: change('A', () => ({ name: 'Z' })),
    renameB: change('B', () => ({ name: 'C' })),
    renameSub: change('sub', () => ({ name: 'Deep' })),
    moveSub: change('sub', ({ id }) => ({ parentId: id('B') })),
    moveA: change('A', ({ id }) => ({ parentId: id('B') })),
    moveB: change('B', ({ id }) => ({ parentId: id('sub') })),
    removeB: drop('B'),
    removeSub: drop('sub'),
    define: create('/v1/attributes', ({ name }) => ({
      key: `${name}n`,
      type: 'number',
      requiredIn: [`${name} > B`],
    })),
    requireInB: change('colour', ({ name }) => ({ requiredIn: [`${name} > B`] })),
    choices: change('colour', () => ({ type: 'choice', choices: ['red', 'green'] })),
    undefine: drop('colour'),
    synonym: create('/v1/search/synonyms', ({ name }) => ({ words: [`${name}lamp`, `${name}torch`] })),
    changedSynonym: change('synonym', ({ name }) => ({ words: [`${name}lamp`, `${name}light`] })),
    removeSynonym: drop('synonym'),
  },
  reads: ({ at, id, name }) =>
    [
      ...['lamp', 'desk', 'A', 'B', 'sub', 'colour', 'synonym'].map(at),
      `/v1/products?tag=${name}&perPage=50&facets=brand,category,price`,
      `/v1/products?brand=${name}brand&status=active`,
      `/v1/products?attr.${name}c=red`,
      `/v1/products?attr.${name}c=green&facets=attr.${name}c`,
      ...['A', 'B', 'C', 'Z'].map(
        one => `/v1/products?tag=${name}&category=${name}+>+${one}&facets=category`,
      ),
      ...['root', 'A', 'B'].map(one => `/v1/categories?parentId=${id(one)}`),
      `/v1/attributes?key=${name}n`,
      ...['', 'lamp', 'lantern', 'torch', 'light'].map(
        one => `/v1/search?q=${name}${one}&tag=${name}&facets=category`,
      ),
    ].map(path => sent('GET', path)),
};
