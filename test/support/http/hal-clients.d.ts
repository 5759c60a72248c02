/** Types for HAL clients that ship none, as far as the tests use them. */
declare module 'halfred' {
  interface Parsed {
    link(relation: string): { readonly href: string };
    // biome-ignore lint/suspicious/noExplicitAny: what a resource holds is what the test asserts
    embeddedArray(relation: string): any[];
  }
  const halfred: { parse(document: unknown): Parsed };
  export default halfred;
}
declare module 'halboy' {
  interface Config {
    readonly headers: Readonly<Record<string, string>>;
  }
  export class Navigator {
    static discover(url: string, options: { http: Config }): Promise<Navigator>;
    static resume(location: string, resource: unknown): Navigator;
    get(relation: string, parameters: object, config: Config): Promise<Navigator>;
    // biome-ignore lint/suspicious/noExplicitAny: what a resource holds is what the test asserts
    resource(): { getResource(relation: string): any };
  }
}

declare module 'regenerator-runtime/runtime';
