/** WooCommerce writes its header in the shop's language. Imports an export of all columns in each language. */
import { expect, test } from 'bun:test';
import { onCatalog, productsOf, variantsOf } from '../program.ts';

interface Header {
  readonly language: string;
  /** Whether the file has columns for GTINs and for the low stock threshold. */
  readonly version: { readonly gtin: boolean; readonly lowStock: boolean };
  readonly columns: string;
  /** The columns between `Position` and the attributes. */
  readonly brands: string;
  readonly attribute: readonly string[];
}

const headers: readonly Header[] = [
  {
    language: 'English',
    version: { gtin: true, lowStock: true },
    columns:
      'ID,Type,SKU,"GTIN, UPC, EAN, or ISBN",Name,Published,"Is featured?","Visibility in catalog","Short description",Description,"Date sale price starts","Date sale price ends","Tax status","Tax class","In stock?",Stock,"Low stock amount","Backorders allowed?","Sold individually?","Weight (kg)","Length (cm)","Width (cm)","Height (cm)","Allow customer reviews?","Purchase note","Sale price","Regular price",Categories,Tags,"Shipping class",Images,"Download limit","Download expiry days",Parent,"Grouped products",Upsells,Cross-sells,"External URL","Button text",Position',
    brands: 'Brands',
    attribute: ['Attribute 1 name', 'Attribute 1 value(s)', 'Attribute 1 visible', 'Attribute 1 global'],
  },
  {
    language: 'German, before GTINs',
    version: { gtin: false, lowStock: true },
    columns:
      'ID,Typ,Artikelnummer,Name,Veröffentlicht,"Ist hervorgehoben?","Sichtbarkeit im Katalog",Kurzbeschreibung,Beschreibung,"Datum, an dem Angebotspreis beginnt","Datum, an dem Angebotspreis endet",Steuerstatus,Steuerklasse,Vorrätig?,Lager,"Geringe Lagermenge","Lieferrückstände erlaubt?","Nur einzeln verkaufen?","Gewicht (kg)","Länge (cm)","Breite (cm)","Höhe (cm)","Kundenbewertungen erlauben?","Hinweis zum Kauf",Angebotspreis,"Regulärer Preis",Kategorien,Schlagwörter,Versandklasse,Bilder,Downloadlimit,"Ablauftage des Downloads","Übergeordnetes Produkt","Gruppierte Produkte",Zusatzverkäufe,"Cross-Sells (Querverkäufe)","Externe URL",Button-Text,Position',
    brands: 'Marken',
    attribute: ['Attribut 1 Name', 'Attribut 1 Wert(e)', 'Attribut 1 Sichtbar', 'Attribut 1 Global'],
  },
  {
    language: 'Spanish, in pounds',
    version: { gtin: true, lowStock: true },
    columns:
      'ID,Tipo,SKU,"GTIN, UPC, EAN o ISBN",Nombre,Publicado,"¿Está destacado?","Visibilidad en el catálogo","Descripción corta",Descripción,"Día en que empieza el precio rebajado","Día en que termina el precio rebajado","Estado del impuesto","Clase de impuesto",¿Existencias?,Inventario,"Cantidad de bajo inventario","¿Permitir reservas de productos agotados?","¿Vendido individualmente?","Peso (lbs)","Longitud (in)","Anchura (in)","Altura (in)","¿Permitir valoraciones de clientes?","Nota de compra","Precio rebajado","Precio normal",Categorías,Etiquetas,"Clase de envío",Imágenes,"Límite de descargas","Días de caducidad de la descarga",Superior,"Productos agrupados","Ventas dirigidas","Ventas cruzadas","URL externa","Texto del botón",Posición',
    brands: 'Marcas',
    attribute: [
      'Nombre del atributo 1',
      'Valor(es) del atributo 1',
      'Atributo visible 1',
      'Atributo global 1',
    ],
  },
  {
    language: 'French, of an early version',
    version: { gtin: false, lowStock: false },
    columns:
      'ID,Type,UGS,Nom,Publié,"Mis en avant ?","Visibilité dans le catalogue","Description courte",Description,"Date de début de promo","Date de fin de promo","État de la TVA","Classe de TVA","En stock ?",Stock,"Autoriser les commandes de produits en rupture ?","Vendre individuellement ?","Poids （g）","Longueur (cm)","Largeur (cm)","Hauteur (cm)","Autoriser les avis clients ?","Note de commande","Tarif promo","Tarif régulier",Catégories,Étiquettes,"Classe d\'expédition",Images,"Limite de téléchargement","Jours d\'expiration du téléchargement",Parent,"Groupes de produits","Produits suggérés","Ventes croisées","URL externe","Libellé du bouton",Position',
    brands: 'Brands',
    attribute: [
      'Nom de l’attribut 1',
      'Valeur(s) de l’attribut 1 ',
      'Attribut 1 visible',
      'Attribut 1 global',
    ],
  },
];

/** A file with a hoodie of two sizes and a cap. */
function fileOf({ version, columns, brands, attribute }: Header): string {
  const row = (cells: { readonly [name: string]: string; readonly size: string }) => {
    const of = (...names: readonly string[]) => names.map(name => cells[name] ?? '');
    return [
      ...of('id', 'type', 'sku'),
      ...(version.gtin ? of('gtin') : []),
      ...of('name', 'published'),
      ...['0', 'visible'],
      ...of('short', 'description', 'from', 'to'),
      ...['taxable', ''],
      ...of('inStock', 'stock'),
      ...(version.lowStock ? ['3'] : []),
      ...['0', '0'],
      ...of('weight'),
      ...['1', '2', '3', '1', ''],
      ...of('sale', 'regular', 'categories', 'tags'),
      '',
      ...of('images'),
      ...['', ''],
      ...of('parent'),
      ...['', '', '', '', '', '0'],
      ...of('plugin', 'brand', 'attribute', 'size'),
      ...['1', '1', 'cold'],
    ]
      .map(cell => `"${cell}"`)
      .join(',');
  };
  const size = { attribute: 'Size', published: '1', inStock: '1' };
  return [
    // A plugin of this shop adds a column before the brands; another one keeps its value as metadata.
    `${columns},"Swatches 12",${brands},${attribute.join(',')},Meta: _care_2`,
    row({
      ...size,
      ...{
        id: '10',
        type: 'variable',
        sku: 'HOOD',
        name: 'Hoodie',
        description: 'Thick fleece',
        size: 'S, M',
      },
      ...{ categories: 'Clothing > Hoodies, Sale', tags: 'warm, new', brand: 'Fjord', plugin: 'round' },
      images: 'https://c.example/hood.jpg',
    }),
    row({
      ...size,
      ...{ id: '11', type: 'variation', sku: 'HOOD-S', name: 'Hoodie - S', parent: 'HOOD', size: 'S' },
      ...{ regular: '60', sale: '45', stock: '5', weight: '0.8' },
    }),
    row({
      ...size,
      ...{ id: '12', type: 'variation', sku: 'HOOD-M', name: 'Hoodie - M', parent: 'id:10', size: 'M' },
      ...{ regular: '62', stock: '0' },
    }),
    row({
      ...{ id: '13', type: 'simple', sku: 'CAP', name: 'Cap', published: '-1', regular: '15', size: 'One' },
      ...{ attribute: 'Size', gtin: '4006381333931', inStock: '1', brand: 'Fjord' },
    }),
  ].join('\n');
}

const units: Readonly<Record<string, string>> = {
  'Spanish, in pounds': 'lb',
  'French, of an early version': 'g',
};

test.each(headers)('an export in $language is read', header =>
  onCatalog(async place => {
    const file = place.file('p.csv', fileOf(header));
    const proposal = await place.runHere(['import', file, '--dry-run']);
    expect(proposal.err).toContain('looks like a product export of WooCommerce: --preset woocommerce');
    const ended = await place.runHere(['import', file, '--preset', 'woocommerce']);
    expect(ended).toMatchObject({ status: 0, out: expect.stringMatching(/^2 created, .* 0 rejected/) });
    const [hoodie, cap] = await productsOf(place);
    expect(hoodie).toMatchObject({
      ...{ sku: 'HOOD', externalId: '10', name: 'Hoodie', description: 'Thick fleece', brand: 'Fjord' },
      ...{ price: 45, category: 'Clothing > Hoodies', categories: ['Sale'], tags: ['warm', 'new'] },
      ...{ status: 'active', options: [{ name: 'Size', values: ['S', 'M'] }] },
      attributes: { swatches_12: 'round', meta_care_2: 'cold' },
      images: [expect.objectContaining({ url: 'https://c.example/hood.jpg' })],
    });
    expect(cap).toMatchObject({
      ...{ sku: 'CAP', status: 'archived', price: 15, attributes: { size: 'One' } },
      gtin: header.version.gtin ? '4006381333931' : null,
    });
    expect(await variantsOf(place)).toMatchObject([
      {
        ...{ sku: 'HOOD-S', options: { Size: 'S' }, price: 45, compareAtPrice: 60 },
        ...{ weight: { value: 0.8, unit: units[header.language] ?? 'kg' }, stock: { onHand: 5 } },
      },
      { sku: 'HOOD-M', options: { Size: 'M' }, price: 62, stock: { onHand: 0 } },
    ]);
    const again = await place.runHere(['import', file, '--preset', 'woocommerce']);
    expect(again.out).toContain('0 created, 0 updated, 2 unchanged');
  }),
);

test.each([
  'Download 1 ID,Download 1 Name,Download 1 URL',
  'ID de descarga 1,Nombre de descarga 1,URL de descarga 1',
])('columns of downloads, %s, are not read as attributes', downloads =>
  onCatalog(async place => {
    const header = headers[1]?.columns ?? '';
    const attribute = headers[1]?.attribute.join() ?? '';
    const row = ['1,simple,BOOK,Book,1', ...Array(20).fill(''), '12', ...Array(13).fill('')].join();
    const cells = [...row.split(','), 'a-1', 'b.pdf', 'https://c.example/b.pdf', 'Pages', '120', '1', '1'];
    const columns = `${header},${downloads},${attribute}`;
    const file = place.file('p.csv', `${columns}\n${cells.join()}\n`);
    expect((await place.runHere(['import', file, '--preset', 'woocommerce'])).out).toContain('1 created');
    expect(await productsOf(place)).toMatchObject([{ attributes: { pages: 120 } }]);
  }),
);

test.each(['ブランド', '品牌', '브랜드', 'Varumärken', 'Značky', 'Markalar', 'Mærker'])(
  'the column of brands is recognized as %s',
  brands =>
    onCatalog(async place => {
      const columns = `${headers[1]?.columns ?? ''},${brands}`;
      const row = ['1,simple,MUG,Mug,1', ...Array(20).fill(''), '12', ...Array(13).fill(''), 'Fjord'].join();
      const file = place.file('p.csv', `${columns}\n${row}\n`);
      expect((await place.runHere(['import', file, '--preset', 'woocommerce'])).status).toBe(0);
      expect(await productsOf(place)).toMatchObject([{ sku: 'MUG', brand: 'Fjord' }]);
    }),
);

const refused = [
  {
    name: 'some columns only',
    header: 'ID,Тип,Артикул,Имя,Опубликован,"Базовая цена"',
    says: 'it has no column "Type", "Name", "Regular price"; an export in another language than English needs all columns',
  },
  {
    name: 'in English without a price',
    header: 'ID,Type,SKU,Name,Published',
    says: 'it has no column "Regular price"',
  },
  {
    name: 'whose column of types has lost its name',
    header: (headers[1]?.columns ?? '').replace('Typ,', '  ,').replaceAll(', an', ' an'),
    says: 'it has no column "Type"; an export in another language than English needs all columns',
  },
  {
    name: 'whose weight is in an unknown unit',
    header: (headers[1]?.columns ?? '').replace('(kg)', '(st)').replaceAll(', an', ' an'),
    says: 'an export in another language than English needs all columns',
  },
];

test.each(refused)('an export of $name is refused in one line', ({ header, says }) =>
  onCatalog(async place => {
    const file = place.file('p.csv', `${header}\n10${','.repeat(header.split(',').length - 1)}\n`);
    const ended = await place.runHere(['import', file, '--preset', 'woocommerce']);
    expect(ended.err).toEndWith(`${says}\n`);
    expect(ended.err.trimEnd()).not.toContain('\n');
    expect(ended.status).toBe(1);
    expect(await productsOf(place)).toEqual([]);
  }),
);

test.each([
  ['English', 'Download 1 ID,Download 1 name,Download 1 URL', 'Download 1 URL', '"Purchase note"'],
  ['German', 'Download 1 ID,Name des Downloads 1,URL des Downloads 1', 'URL des Downloads 1', 'Kaufnotiz'],
])(
  'an import warns that what only buyers see becomes visible (%s)',
  (language, downloads, url, purchaseNote) =>
    onCatalog(async place => {
      const isEnglish = language === 'English';
      const columns = [
        ...(isEnglish ? ['ID,Type,SKU,Name,Published'] : ['ID,Typ,Artikelnummer,Name,Veröffentlicht']),
        ...['"Is featured?","Visibility in catalog","Short description",Description,From,To,Tax,"Tax class"'],
        ...['"In stock?",Stock,"Low stock amount","Backorders allowed?","Sold individually?","Weight (kg)"'],
        ...['"Length (cm)","Width (cm)","Height (cm)","Allow customer reviews?"', purchaseNote],
        ...[isEnglish ? '"Sale price","Regular price"' : 'Angebotspreis,"Regulärer Preis"'],
        ...[
          'Categories,Tags,"Shipping class",Images,Limit,Days,Parent,"Grouped products",Upsells,Cross-sells',
        ],
        ...['"External URL","Button text",Position,"Cost of goods",Brands', downloads],
      ];
      const row =
        '1,"simple, downloadable",B,Book,1,0,visible,,,,,,,1,,,0,0,,,,,1,key 1,,5,,,,,,,,,,,,,0,2,,';
      const file = place.file('w.csv', `${columns.join(',')}\n${row}d,Book,https://a.example/book.pdf\n`);
      const ended = await place.runHere(['import', file, '--preset', 'woocommerce', '--dry-run']);
      expect(ended.out).toContain('1 created');
      for (const name of [url, purchaseNote.replaceAll('"', ''), 'Cost of goods'])
        expect(ended.err).toContain(`"${name}" becomes an attribute, visible to everyone who reads products`);
    }),
);
