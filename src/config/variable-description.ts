/** A row of the reference: docs/reference/configuration.md is generated from these. */
export type VariableDescription = {
  /** Described together; `PROVIDER_A_...` stands for the three slots. */
  names: readonly string[];
  /** What holds while it is not set, in Markdown. */
  unset: string;
  /** In Markdown. */
  meaning: string;
};
