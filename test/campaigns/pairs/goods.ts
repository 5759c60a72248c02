/** Products with variants, images and stock, what is ordered of them, and who orders it. */
import { patch, post, sent } from '../../support/areas/area.ts';
import { plainPng } from '../../support/data/images.ts';
import { password } from '../../support/service/service.ts';
import { type Area, change, drop, from, type World } from './world.ts';

const variant = (body: (world: World) => object) => (world: World) =>
  post(`${world.at('shirt')}/variants`, body(world));
const image = (body: (world: World) => unknown) => (world: World) =>
  post(`${world.at('lamp')}/images`, body(world));
const picture = plainPng(2, 2, 10, 20, 30);

export const variants: Area = {
  async build({ name, add, at }) {
    const fields = { price: 10, tags: [name] };
    const options = [{ name: 'Size', values: ['S', 'M', 'L'] }];
    await add('lamp', '/v1/products', {
      ...fields,
      name: `${name} lamp`,
      stock: { onHand: 5 },
      sku: `${name}-1`,
    });
    await add('shirt', '/v1/products', { ...fields, name: `${name} shirt`, options });
    await add('small', `${at('shirt')}/variants`, {
      options: { Size: 'S' },
      stock: { onHand: 3 },
      sku: `${name}-s`,
    });
    await add('medium', `${at('shirt')}/variants`, { options: { Size: 'M' }, price: 8 });
    await add('front', `${at('lamp')}/images`, { url: `https://shop.example/${name}/1.png` });
    await add('back', `${at('lamp')}/images`, { url: `https://shop.example/${name}/2.png` });
  },
  operations: {
    large: variant(({ name }) => ({ options: { Size: 'L' }, price: 1, sku: `${name}-n` })),
    largeToo: variant(() => ({ options: { Size: 'L' }, stock: { onHand: 0 } })),
    smallPrice: change('small', () => ({ price: 2 })),
    smallToLarge: change('small', () => ({ options: { Size: 'L' } })),
    smallSku: change('small', ({ name }) => ({ sku: `${name}-n` })),
    smallStock: change('small', () => ({ stock: { onHand: 0 } })),
    both: ({ at, id }) =>
      patch(`${at('shirt')}/variants`, {
        ids: [id('small'), id('medium')],
        update: { price: 4, stock: { onHand: 1 } },
      }),
    replaced: ({ at }) => sent('PUT', at('medium'), { options: { Size: 'M' }, position: 3 }),
    removeSmall: drop('small'),
    removeMedium: drop('medium'),
    fewerOptions: change('shirt', () => ({ options: [{ name: 'Size', values: ['S', 'M'] }] })),
    otherOption: change('shirt', () => ({ options: [{ name: 'Length', values: ['S', 'M', 'L'] }] })),
    noOptions: change('shirt', () => ({ options: [] })),
    shirtPrice: change('shirt', () => ({ price: 20 })),
    replaceShirt: ({ at, name }) =>
      sent('PUT', at('shirt'), {
        name: `${name} coat`,
        price: 6,
        tags: [name],
        options: [{ name: 'Size', values: ['S', 'M', 'L'] }],
      }),
    archiveShirt: change('shirt', () => ({ status: 'archived' })),
    removeShirt: drop('shirt'),
    several: ({ id }) => patch('/v1/products', { ids: [id('shirt'), id('lamp')], update: { price: 3 } }),
    lampSku: change('lamp', ({ name }) => ({ sku: `${name}-n` })),
    lampStock: change('lamp', () => ({ stock: { onHand: 9 } })),
    lampOptions: change('lamp', () => ({ options: [{ name: 'Size', values: ['S'] }] })),
    lampVariant: ({ at }) => post(`${at('lamp')}/variants`, { options: { Size: 'S' } }),
    replaceLamp: ({ at, name }) =>
      sent('PUT', at('lamp'), { name: `${name} lamp`, price: 12, tags: [name], images: [] }),
    removeLamp: drop('lamp'),
    adjustLamp: ({ id }) =>
      post('/v1/stock/adjustments', { adjustments: [{ productId: id('lamp'), delta: -4, reason: 'count' }] }),
    adjustBoth: ({ id }) =>
      post('/v1/stock/adjustments', {
        adjustments: [
          { productId: id('lamp'), delta: 2, reason: 'count' },
          { productId: id('shirt'), variantId: id('small'), delta: -2, reason: 'count' },
        ],
      }),
    attach: image(({ name }) => ({ url: `https://shop.example/${name}/3.png` })),
    upload: world => ({ ...image(() => picture)(world), headers: { 'Content-Type': 'image/png' } }),
    firstImage: change('back', () => ({ position: 0, alt: 'back' })),
    removeFront: drop('front'),
    images: change('lamp', ({ name }) => ({ images: [{ url: `https://shop.example/${name}/9.png` }] })),
  },
  reads: ({ at, id, name }) =>
    [
      ...['lamp', 'shirt', 'small', 'medium', 'front', 'back'].map(at),
      ...['variants', 'variants?available=true', 'variants?sort=price'].map(list => `${at('shirt')}/${list}`),
      `${at('lamp')}/images`,
      `${at('lamp')}/variants`,
      `/v1/products?tag=${name}&facets=price`,
      `/v1/products?tag=${name}&available=true&sort=price`,
      `/v1/products?tag=${name}&attr.Size=S`,
      ...['1', 'n', 's'].map(sku => `/v1/products?sku=${name}-${sku}`),
      `/v1/search?q=${name}&available=true`,
      `/v1/search?q=${name}&minPrice=3&maxPrice=9`,
      ...['lamp', 'shirt'].map(key => `/v1/stock/adjustments?productId=${id(key)}`),
    ].map(path => sent('GET', path)),
};

const order = (items: (world: World) => readonly object[]) =>
  from('ada', world => post(`${world.at('ada')}/orders`, { items: items(world) }));
const act = (key: string, action: string) => from('ada', ({ at }) => post(`${at(key)}/${action}`, undefined));

export const orders: Area = {
  async build({ name, add, at, id, person, send, by }) {
    await person('ada');
    const fields = { price: 10, currency: 'EUR', tags: [name] };
    const options = [{ name: 'Size', values: ['S', 'M'] }];
    await add('lamp', '/v1/products', { ...fields, name: `${name} lamp`, stock: { onHand: 5 } });
    await add('shirt', '/v1/products', { ...fields, name: `${name} shirt`, options });
    await add('small', `${at('shirt')}/variants`, { options: { Size: 'S' }, stock: { onHand: 2 } });
    const items = [{ productId: id('lamp'), quantity: 1 }];
    await add('open', `${at('ada')}/orders`, { items }, by('ada'));
    await add('paid', `${at('ada')}/orders`, { items }, by('ada'));
    await send({ method: 'POST', path: `${at('paid')}/payment`, headers: by('ada') });
  },
  operations: {
    lamps: order(({ id }) => [{ productId: id('lamp'), quantity: 2 }]),
    shirts: order(({ id }) => [{ productId: id('shirt'), variantId: id('small'), quantity: 2 }]),
    some: order(({ id }) => [
      { productId: id('shirt'), variantId: id('small'), quantity: 1 },
      { productId: id('lamp'), quantity: 2 },
    ]),
    cancel: act('open', 'cancel'),
    pay: act('open', 'payment'),
    cancelPaid: act('paid', 'cancel'),
    adjust: ({ id }) =>
      post('/v1/stock/adjustments', { adjustments: [{ productId: id('lamp'), delta: -2, reason: 'count' }] }),
    soldOut: change('lamp', () => ({ stock: { onHand: 1 } })),
    untracked: change('lamp', () => ({ stock: { tracked: false } })),
    price: change('lamp', () => ({ price: 7, name: 'Lamp' })),
    currency: change('lamp', () => ({ currency: 'USD' })),
    archive: change('lamp', () => ({ status: 'archived' })),
    removeLamp: drop('lamp'),
    removeShirt: drop('shirt'),
    removeSmall: drop('small'),
    smallStock: change('small', () => ({ stock: null })),
    smallPrice: change('small', () => ({ price: 3 })),
    several: ({ id }) => patch('/v1/products', { ids: [id('lamp'), id('shirt')], update: { price: 2 } }),
    leave: from('ada', () => post('/v1/me/deletion', { currentPassword: password })),
    removeAda: drop('ada'),
    renameAda: change('ada', ({ name }) => ({ email: `${name}.new@people.example` })),
  },
  reads: ({ at, id, by, name }) => [
    ...[
      ...['lamp', 'shirt', 'small', 'ada', 'open', 'paid'].map(at),
      `${at('shirt')}/variants`,
      `${at('ada')}/orders`,
      ...[id('ada')].flatMap(customer => [
        `/v1/orders?customerId=${customer}`,
        `/v1/invoices?customerId=${customer}`,
      ]),
      `/v1/products?tag=${name}&available=true`,
      ...['lamp', 'shirt'].map(key => `/v1/stock/adjustments?productId=${id(key)}`),
    ].map(path => sent('GET', path)),
    ...['/v1/notifications', '/v1/me'].map(path => ({ path, headers: by('ada') })),
  ],
};
