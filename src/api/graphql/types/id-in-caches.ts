/** Why a feature's `id` is deprecated. */
export const ID_IN_CACHES =
  "Clients' caches, as those of Apollo Client and urql, take it for unique, and one plan's or user's feature for another's: select `featureId`.";
