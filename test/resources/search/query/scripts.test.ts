/** What shoppers type in scripts that are not Latin: parts of texts without spaces, letters as keyboards have them, digits. */
import { expect, test } from 'bun:test';
import { describeOnDatabases } from '../../../support/service/databases.ts';
import { useNamedShop } from './named-shop.ts';

const shop = [
  'ワイヤレスイヤホン 防水',
  'ガラスのコップ ６個セット',
  'カラスのぬいぐるみ',
  '東京ばな奈',
  '京都 東山 抹茶',
  'りんごジュース 500㎖',
  'リンゴジャム',
  'ｺｰﾋｰﾒｰｶｰ',
  'プリンタ用インク',
  '防摔手机壳',
  'รองเท้าวิ่งผู้ชาย สีดำ',
  'น้ำหอม ๕๐ มล.',
  'क़मीज़ पुरुष',
  'قَمِيص قُطنِي أحمر',
  'مـــكتب خشبي ٣ أدراج',
  'حقيبة نسائية',
  'לֶחֶם שיפון',
  'کتاب می‌خوانم',
  'Обʼєктив фото',
  'Kühl\u00ADschrank weiß',
  'Rohr 1½ Zoll',
  'Pipe 1 1/2 inch',
];

describeOnDatabases('words of other scripts on %s', kind => {
  const search = useNamedShop(kind, shop);

  test.each([
    // Parts of texts without spaces, in their order only, in either kana, in either width.
    ['イヤホン', ['ワイヤレスイヤホン 防水']],
    ['ｲﾔﾎﾝ', ['ワイヤレスイヤホン 防水']],
    ['いやほん', ['ワイヤレスイヤホン 防水']],
    ['東京', ['東京ばな奈']],
    ['茶', ['京都 東山 抹茶']],
    ['りんご', ['リンゴジャム', 'りんごジュース 500㎖']],
    ['コーヒーメーカー', ['ｺｰﾋｰﾒｰｶｰ']],
    ['プリンター', ['プリンタ用インク']],
    ['6個', ['ガラスのコップ ６個セット']],
    ['500ml', ['りんごジュース 500㎖']],
    ['手机', ['防摔手机壳']],
    ['手机壳', ['防摔手机壳']],
    // A voiced sound is another letter: glass is no crow.
    ['ガラス', ['ガラスのコップ ６個セット']],
    ['カラス', ['カラスのぬいぐるみ']],
    // Words of Thai, also while they are typed and with their marks in another order.
    ['วิ่ง', ['รองเท้าวิ่งผู้ชาย สีดำ']],
    ['รองเท', ['รองเท้าวิ่งผู้ชาย สีดำ']],
    ['รองเท้าผู้ชาย', ['รองเท้าวิ่งผู้ชาย สีดำ']],
    ['นํ้าหอม 50', ['น้ำหอม ๕๐ มล.']],
    // Signs that are often left out, and letters that are typed for others.
    ['कमीज', ['क़मीज़ पुरुष']],
    ['قميص قطني', ['قَمِيص قُطنِي أحمر']],
    ['احمر', ['قَمِيص قُطنِي أحمر']],
    ['مكتب 3', ['مـــكتب خشبي ٣ أدراج']],
    ['حقيبه', ['حقيبة نسائية']],
    ['לחם', ['לֶחֶם שיפון']],
    ['كتاب ميخوانم', ['کتاب می‌خوانم']],
    ['об’єктив', ['Обʼєктив фото']],
    ["об'єктив", ['Обʼєктив фото']],
    // What is not seen within a word, and fractions.
    ['kühlschrank', ['Kühl\u00ADschrank weiß']],
    ['1½ zoll', ['Rohr 1½ Zoll', 'Pipe 1 1/2 inch']],
    ['1 1/2 zoll', ['Rohr 1½ Zoll', 'Pipe 1 1/2 inch']],
    ['1½ inch', ['Pipe 1 1/2 inch']],
    ['11 zoll', []],
  ])('%j finds %j with all words', async (query, names) => {
    const { data } = await search(query);
    const all = data.filter(({ missing }: { missing: string[] }) => missing.length === 0);
    expect(all.map(({ title }: { title: string }) => title)).toEqual(names);
  });

  test('snippets mark the match in a text without spaces', async () => {
    const snippetOf = async (query: string) => (await search(query)).data[0]?.snippet;
    expect(await snippetOf('手机壳')).toBe('防摔<mark>手机壳</mark>');
    expect(await snippetOf('抹茶')).toBe('京都 東山 <mark>抹茶</mark>');
    expect(await snippetOf('茶')).toBe('京都 東山 抹<mark>茶</mark>');
    expect(await snippetOf('วิ่ง')).toBe('รองเท้า<mark>วิ่ง</mark>ผู้ชาย สีดำ');
    expect(await snippetOf('コーヒー')).toBe('<mark>ｺｰﾋ</mark>ｰﾒｰｶｰ');
  });
});
