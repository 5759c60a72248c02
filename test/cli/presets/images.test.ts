/** Addresses of images in shops' files: with spaces, several in a cell, and paths, which are counted. */
import { expect, test } from 'bun:test';
import { onCatalog, productsOf } from '../program.ts';

const photo = 'https://s.example/my photo.jpg';
const spaced = 'https://s.example/my%20photo.jpg';
const base = ['--image-base', 'https://m.example/media/'];
const shopify = 'Handle,Title,Vendor,Option1 Name,Option1 Value,Variant Price,Image Src,Variant Image';
const magento = 'sku,product_type,name,product_online,visibility,price,base_image,additional_images';
const shared = 'images are paths and were left out';

interface Case {
  readonly name: string;
  readonly shop?: string;
  readonly rows: readonly string[];
  readonly options?: readonly string[];
  readonly says?: string;
  readonly images: readonly string[];
}

const cases: readonly Case[] = [
  {
    name: 'a feed with a space in an address',
    shop: 'google',
    rows: [
      'id\ttitle\timage link\tadditional image link\tprice',
      `1\tX\t${photo}\thttps://s.example/a b.jpg,https://s.example/w_3,h_2/c.jpg\t5 EUR`,
    ],
    images: [spaced, 'https://s.example/a%20b.jpg', 'https://s.example/w_3,h_2/c.jpg'],
  },
  {
    name: 'the same with a base for paths: no image is invented',
    shop: 'google',
    rows: ['id\ttitle\timage link\tprice', `1\tX\t${photo}\t5 EUR`],
    options: base,
    images: [spaced],
  },
  {
    name: 'a catalog of Meta',
    shop: 'meta',
    rows: ['id,title,price,image_link,fb_product_category', `1,X,5 EUR,${photo},`],
    images: [spaced],
  },
  {
    name: 'addresses with commas and a space between them',
    shop: 'woocommerce',
    rows: ['Type,SKU,Name,Regular price,Images', `simple,A,X,9,"${photo}, https://s.example/b.jpg"`],
    images: [spaced, 'https://s.example/b.jpg'],
  },
  {
    name: 'images of a product and of its variant',
    shop: 'shopify',
    rows: [shopify, `a,A,V,Size,S,1,${photo},https://s.example/the back.jpg`],
    images: [spaced, 'https://s.example/the%20back.jpg'],
  },
  {
    name: 'paths with a space',
    shop: 'magento',
    rows: [magento, 'A,simple,A,1,"Catalog, Search",1,/a b.jpg,"/a b.jpg,c d.jpg"'],
    options: base,
    images: ['https://m.example/media/a%20b.jpg', 'https://m.example/media/c%20d.jpg'],
  },
  {
    name: 'paths of a feed are counted once',
    shop: 'google',
    rows: ['id\ttitle\timage link\tadditional image link\tprice', '1\tX\t/a.jpg\t/b.jpg\t5 EUR'],
    says: `2 × ${shared}`,
    images: [],
  },
  {
    name: 'paths of a variant are counted once',
    shop: 'woocommerce',
    rows: [
      'Type,SKU,Name,Regular price,Images,Parent,Attribute 1 name,Attribute 1 value(s)',
      'variable,T,Tee,,/t.jpg,,Size,S',
      'variation,T-S,Tee,9,/s.jpg,T,Size,S',
    ],
    says: `2 × ${shared}`,
    images: [],
  },
  {
    name: 'the path of a variant is counted once',
    shop: 'shopify',
    rows: [shopify, 'a,A,V,Size,S,1,https://s.example/a.jpg,b.jpg'],
    says: `1 × ${shared}`,
    images: ['https://s.example/a.jpg'],
  },
  {
    name: 'a table of no shop, with spaces within addresses and between them',
    rows: ['sku,name,price,images', `A,A,1,${photo} https://s.example/b.jpg | https://s.example/c d.jpg`],
    images: [spaced, 'https://s.example/b.jpg', 'https://s.example/c%20d.jpg'],
  },
];

test.each(cases)('$name', ({ shop, rows, options = [], says, images }) =>
  onCatalog(async place => {
    const preset = shop === undefined ? [] : ['--preset', shop];
    const command = ['import', place.file('p.csv', [...rows, ''].join('\n')), ...preset, ...options];
    const ended = await place.runHere(command);
    expect(ended).toMatchObject({ status: 0, out: expect.stringContaining('1 created') });
    if (says === undefined) expect(ended.err).not.toContain(shared);
    else expect(ended.err).toContain(says);
    const [made] = await productsOf(place);
    expect(made?.images.map(({ url }) => url)).toEqual([...images]);
    expect((await place.runHere(command)).out).toContain('0 updated, 1 unchanged');
  }),
);
