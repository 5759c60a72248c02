/** Function words (and, with, for): they do not describe what is searched for, and titles may lack them. */

const fillers: Readonly<Record<string, string>> = {
  da: 'og i af til for med en et den det de pa',
  de: 'und oder der die das den dem des ein eine einen einer fur mit ohne von vom zu zum zur im in am an auf aus bei etwas auch nur noch sehr wie ist ich was gr nr',
  en: 'and or the a an of for with without in on at to from by under my some any something anything is are what',
  es: 'y o el la los las un una de del para con sin en por al',
  fi: 'ja tai',
  fr: 'et ou a le la les un une de du des pour avec sans en dans sur au aux par',
  it: 'e o il lo la i gli le un una uno di del della per con senza in da',
  nl: 'en of de het een van voor met zonder in op te',
  no: 'og i av til for med en et den det de pa',
  pt: 'e ou o a os as um uma de do da dos das para com sem em por',
  sv: 'och i av till for med en ett den det de pa',
};

/** The function words of some languages, in their indexed form. */
export const getFillers = (languages: readonly string[]): ReadonlySet<string> =>
  new Set(languages.flatMap(language => fillers[language]?.split(' ') ?? []));

/** Words before what a thing is for, among the fillers: a `Case for Phones` is no phone. */
export const purposes: ReadonlySet<string> = new Set(['for', 'fur', 'pour', 'para', 'voor']);

/** Whether a word that is indexed as the filler `fur` is not `für`: English `fur` is what a coat is made of. */
export const isPelt = (written: string): boolean => written.toLowerCase() === 'fur';
