/** What attributes of products may be called: their keys, in members, parameters, columns of files and definitions. */
export const attributeKey = /^[a-z][a-z0-9_.-]{0,63}$/;
