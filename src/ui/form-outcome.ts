"use client";

import { createContext, useContext } from "react";
import type { Outcome } from "./outcome.ts";

const FormOutcome = createContext<Outcome>(null);

export const OutcomeProvider = FormOutcome.Provider;

/** Context of the enclosing form. */
export function useOutcome(): Outcome {
  return useContext(FormOutcome);
}
