/** Why a feature's `id` is deprecated. */
export const ID_DEPRECATION_REASON =
  "Not unique: caches such as those of Apollo Client and urql confuse the features of different plans or users. Select `featureId`.";
