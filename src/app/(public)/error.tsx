"use client";

import { Failure } from "../../ui/failure.tsx";

export default Failure;
