import { ForAdministrators } from "../for-administrators.tsx";

export default ForAdministrators;
