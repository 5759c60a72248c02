/** The command line of `catalog import`. */
import { type CellOptions, findReader, Unreadable } from '../../files/cells/fields.ts';
import { type Mapping, MappingError, parseMapping, parseSettings } from '../../files/cells/map.ts';
import { weightUnits } from '../../files/cells/weight.ts';
import { type Encoding, encodings } from '../../files/encoding.ts';
import { currencyCode } from '../../http/schema.ts';
import { imageLink } from '../../resources/products/members/images.ts';
import {
  parse,
  parseChoiceOption,
  parseCountOption,
  parseSafeOption,
  parseValue,
  requireOnePositional,
  UsageError,
} from '../usage.ts';
import { jsonPresetNames, type PresetName, presetNames } from './presets/preset.ts';

export const help = `Usage: catalog import FILE|- [OPTIONS]

Adds the products of a file to the catalog, or updates them. The service may be running.

  FILE                CSV with a header row (commas, semicolons or tabs), NDJSON, or JSON with an array of
                      objects, as it is or packed with gzip; - reads standard input. With --preset google or meta
                      also a feed as XML
  --preset SHOP       reads a file as this shop exports it: shopify, woocommerce, magento, wix, google (a feed for
                      Merchant Center) or meta. Rows of variants and images are joined to their products. shopify
                      also reads the JSON of /products.json, woocommerce that of /wp-json/wc/v3/products
  --format FORMAT     csv, ndjson or json; without it, detected from the file's name and beginning
  --header-line N     the line of a CSV file that names the columns, if it is not the first one
  --encoding NAME     utf-8, utf-16le, utf-16be or windows-1252; without it, detected from the file's bytes.
                      Others must be named: windows-1250 to windows-1258, windows-874, shift_jis, euc-jp, gb18030,
                      big5, euc-kr
  --path MEMBER       for json: the member that holds the array, as in data.items; without it, the first one
  --map FIELD=COLUMN  the column of a field whose column has another name; separate several with commas:
                      --map name=title,price=UnitPrice,category=details.group,attributes.colour=Farbe
                      fields: sku, name, price, currency, description, category, tags, status, brand, gtin, mpn,
                      externalId, compareAtPrice, basePrice, weight, weight.value, weight.unit, categories,
                      attributes, attributes.KEY, options, images, stock, stock.tracked, stock.onHand,
                      stock.backorder, variants. images, tags and categories may have several columns:
                      --map images=IMAGE1,images=IMAGE2
  --set FIELD=VALUE   sets a field of all products, whatever the file says; may be repeated: --set brand=Acme
  --decimal MARK      point or comma: the decimal separator of amounts and attributes. Without it the amounts 1,234.50
                      and 1.234,50 are both understood, and ambiguous ones are refused
  --currency CODE     for products without a currency in a column, beside an amount (352 AED, $12.99) or in the name
                      of the column of prices (Preis EUR, Price (USD), price_eur); default: DEFAULT_CURRENCY. Of
                      several columns of prices, --map price=COLUMN decides
  --tag-separator S, --category-separator S
                      the separators of tags, and of the names in a category's path
  --weight-unit UNIT  g, kg, oz or lb: for weights without a unit
  --image-base URL    the prefix of images that are only paths
  --drop-unknown      with a preset: omits the columns that have no field, which otherwise become attributes
  --drop NAME         omits a column; with a preset one of these attributes, by the name of its column or its key; may
                      be repeated: --drop "Cost per item"
  --dry-run           check every record and count; write nothing to the catalog
  --rejects FILE      write the rejected records there, one JSON object per line: line, error, details, raw (the text
                      of the record, with a preset of all rows of the product); without it the first 20 are shown
  --batch N           records per transaction; where the catalog has products, those of one sku stay together. Without
                      it, as many as take less than a tenth of a second
  --skip N            skip the first N records, which are already imported
  --no-safe-for-spreadsheets
                      reads CSV cells unchanged. Without it (--safe-for-spreadsheets) the apostrophes that catalog
                      export writes before formulas are removed: '=1+1 is read as =1+1

A record needs name and price, may have 8 MiB, and follows the same rules as POST /v1/products. Tags are separated by ;
or |, images by spaces, commas or |. A status is active or archived, or a synonym that shops use (publish, draft);
--map status=archived reads a column archived (or discontinued) of true/false, yes/no or 1/0, --map status=active one
called active (or enabled, published, visible, online, Aktiv, …) of the same words.
options, attributes, images and variants may be JSON. A record's variants are added to its product, or update the
variants with the same sku or options; none is deleted.

basePrice is a product's own price, for its variants without one; the price that a product shows is the lowest of its
variants. Without basePrice a price is the product's own, unless the product shows it anyway, before and after.

The sku identifies the product; without one the externalId does, and with neither the skus of its variants, which must
all belong to one product, or id and createdAt of an export from this catalog:
  - no product has it: one is created; omitted fields get their defaults (currency: DEFAULT_CURRENCY)
  - a product has it: its fields are updated, or nothing is written when none differs; omitted fields (no column, an
    empty cell) keep their values, and null in JSON removes a value. The same holds for the members of stock, of the
    product or a variant. attributes.KEY keeps the attributes under other keys; attributes replaces all of them
  - no product has the sku, but one has the externalId: its sku is changed, and the number of such products is reported.
    If an earlier record of the file names that product by its sku, the record is rejected: they are two products
  - two records have it: both are applied in order, so the later wins; the number of records that repeat an earlier
    one is reported
A record with no sku, no externalId and no variant sku, whose id and createdAt are not both those of an existing
product, creates a new product each time it is imported.

SIGINT (Ctrl-C), SIGTERM and SIGHUP stop the import after the current batch; a second signal stops it at once, as does
the first one while indexes are built at the end: the next start of the service builds the rest. After an interruption
run the same command again: imported records with any of these identifiers are not written twice.
For records without any, add --skip N with the number that the interrupted import printed.

Exit status: 0 all records were imported; 2 some were rejected, or the command line is wrong and nothing was read;
1 the import failed, or the file has no records, or fewer than --skip skips; 130 it was interrupted.`;

const options = {
  preset: { type: 'string' },
  format: { type: 'string' },
  'header-line': { type: 'string' },
  encoding: { type: 'string' },
  path: { type: 'string' },
  map: { type: 'string', multiple: true },
  set: { type: 'string', multiple: true },
  decimal: { type: 'string' },
  currency: { type: 'string' },
  'tag-separator': { type: 'string' },
  'category-separator': { type: 'string' },
  'weight-unit': { type: 'string' },
  'image-base': { type: 'string' },
  'drop-unknown': { type: 'boolean' },
  drop: { type: 'string', multiple: true },
  'dry-run': { type: 'boolean' },
  rejects: { type: 'string' },
  batch: { type: 'string' },
  skip: { type: 'string' },
  'safe-for-spreadsheets': { type: 'boolean' },
} as const;

export interface ImportArguments {
  /** A path, or `-` for standard input. */
  readonly file: string;
  /** The name of the file in messages. */
  readonly fileName: string;
  readonly preset: PresetName | undefined;
  /** Detected from the file if undefined, as is the encoding. */
  readonly format: 'csv' | 'ndjson' | 'json' | undefined;
  readonly encoding: Encoding | undefined;
  /** The line of a CSV file that is its header; undefined for the first one. */
  readonly headerLine: number | undefined;
  /** The member of a JSON file that holds the array. */
  readonly path: string | undefined;
  /** Whether to drop the apostrophes that `catalog export` writes for spreadsheets. */
  readonly safe: boolean;
  readonly mapping: Mapping;
  readonly set: Mapping;
  readonly cells: CellOptions;
  readonly dropUnknown: boolean;
  /** Names of attributes that a preset leaves out, or of columns that are not read without one. */
  readonly drop: readonly string[];
  readonly dryRun: boolean;
  /** The file for the text of refused records; undefined if that is not wanted. */
  readonly rejects: string | undefined;
  readonly batchSize: number | undefined;
  /** The number of records at the beginning that are done already. */
  readonly skip: number;
}

/** @throws UsageError */
export function parseArguments(args: string[]): ImportArguments {
  const { values, positionals } = parse(args, options, true);
  const named = parseChoiceOption(values.format, '--format', ['csv', 'ndjson', 'json']);
  if (values.path !== undefined && named !== undefined && named !== 'json')
    throw new UsageError('--path is for JSON only');
  const headerLine = parseCountOption(values['header-line'], '--header-line', 1, 1000);
  if (headerLine !== undefined && (values.path !== undefined || (named !== undefined && named !== 'csv')))
    throw new UsageError('--header-line is for CSV only');
  const format = values.path !== undefined ? 'json' : headerLine !== undefined ? 'csv' : named;
  const preset = parseChoiceOption(values.preset, '--preset', presetNames);
  const skip = parseCountOption(values.skip, '--skip', 0, Number.MAX_SAFE_INTEGER) ?? 0;
  const dropUnknown = values['drop-unknown'] === true;
  if (preset === undefined && dropUnknown) throw new UsageError('--drop-unknown is for a --preset only');
  const drop = values.drop ?? [];
  if (preset !== undefined && format !== undefined && format !== 'csv' && !jsonPresetNames.includes(preset))
    throw new UsageError(`--preset ${preset} is for CSV only`);
  if (preset !== undefined && skip > 0)
    throw new UsageError(
      '--skip cannot be used with --preset: imported records are recognised and not written twice',
    );
  const cells = {
    decimal: parseChoiceOption(values.decimal, '--decimal', ['point', 'comma']),
    currency: parseCurrencyOption(values.currency),
    tagSeparator: parseSeparatorOption(values['tag-separator'], '--tag-separator'),
    categorySeparator: parseSeparatorOption(values['category-separator'], '--category-separator'),
    weightUnit: parseChoiceOption(values['weight-unit'], '--weight-unit', weightUnits),
    imageBase: parseBaseOption(values['image-base']),
  } as const;
  const file = requireOnePositional(positionals, 'FILE');
  return {
    file,
    fileName: file === '-' ? 'standard input' : file,
    preset,
    format,
    encoding: parseChoiceOption(values.encoding?.toLowerCase(), '--encoding', encodings),
    headerLine,
    path: values.path,
    safe: parseSafeOption(values['safe-for-spreadsheets'], format),
    mapping: parseMappingOption('--map', () => parseMapping((values.map ?? []).join(','))),
    set: parseSettingsOption(values.set ?? [], cells),
    cells,
    dropUnknown,
    drop,
    dryRun: values['dry-run'] === true,
    rejects: values.rejects,
    batchSize: parseCountOption(values.batch, '--batch', 1, 100_000),
    skip,
  };
}

/** @throws UsageError, also for a value that no record could have */
function parseSettingsOption(given: readonly string[], cells: CellOptions): Mapping {
  const set = parseMappingOption('--set', () => parseSettings(given));
  for (const [field, text] of set) {
    const value = findReader(field)?.(text, cells);
    if (value instanceof Unreadable) throw new UsageError(`--set ${field} ${value.problem}, not "${text}"`);
  }
  return set;
}

function parseMappingOption(option: string, read: () => Mapping): Mapping {
  try {
    return read();
  } catch (error) {
    if (error instanceof MappingError) throw new UsageError(`${option}: ${error.message}`);
    throw error;
  }
}

function parseCurrencyOption(value: string | undefined): string | undefined {
  return value === undefined ? undefined : parseValue(currencyCode, value, '--currency');
}

/** Spaces around a separator are trimmed, unless the separator is a space itself. */
function parseSeparatorOption(value: string | undefined, option: string): string | undefined {
  if (value === undefined) return undefined;
  if (value === '') throw new UsageError(`${option} is empty`);
  return value.trim() === '' ? value : value.trim();
}

function parseBaseOption(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  // Do not repeat a password.
  return parseValue(imageLink, value, '--image-base', value.includes('@') ? null : value);
}
